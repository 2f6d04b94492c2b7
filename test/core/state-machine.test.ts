import { describe, expect, it } from "vitest";
import { renderStateMachine } from "../support/state-machine.ts";

describe("the documentation of the machine", () => {
  it("is what its table draws", async () => {
    await expect(renderStateMachine()).toMatchFileSnapshot("../../docs/state-machine.md");
  });
});
