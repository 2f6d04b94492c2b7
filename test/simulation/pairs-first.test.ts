import { describe } from "vitest";
import { itHoldsWithAnyTwoFaults } from "./pairs.ts";

describe("small worlds", () => itHoldsWithAnyTwoFaults("first"));
