import { describe } from "vitest";
import { itHoldsWithAnyTwoFaults } from "./pairs.ts";

describe("small worlds", () => itHoldsWithAnyTwoFaults([5, 6, 7, 8]));
