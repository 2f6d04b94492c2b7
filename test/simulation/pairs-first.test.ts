import { describe } from "vitest";
import { itHoldsWithAnyTwoFaults } from "./pairs.ts";

describe("small worlds", () => itHoldsWithAnyTwoFaults([1, 2, 3, 4]));
