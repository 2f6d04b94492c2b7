import { describe, expect, it } from "vitest";
import { createScreen, type Terminal } from "../../../lib/local/view/screen.ts";

const ESCAPE = "\u001b";

/** What a terminal shows that understands just what a {@link Screen} writes: text, cursor moves, and "clear below". */
function fakeTerminal(): Terminal & { shown(): string[] } {
  const lines: string[] = [""];
  let row = 0;
  let column = 0;
  return {
    columns: 80,
    rows: 24,
    write: (text) => {
      // Each piece begins where an escape sequence or a line break does.
      for (const piece of text.split(new RegExp(`(${ESCAPE}\\[\\d*[ADJ]|\n)`))) {
        const [, count = "1", move] = /\[(\d*)([ADJ])$/.exec(piece.startsWith(ESCAPE) ? piece : "") ?? [];
        if (move === "A") row -= Number(count);
        else if (move === "D") column -= Number(count);
        else if (move === "J") {
          lines.length = row + 1;
          lines[row] = (lines[row] ?? "").slice(0, column);
        } else if (piece === "\n") {
          row += 1;
          column = 0;
          lines[row] ??= "";
        } else {
          lines[row] = (lines[row] ?? "").slice(0, column) + piece;
          column += piece.length;
        }
      }
      return true;
    },
    shown: () => lines,
  };
}

describe("the screen", () => {
  it("draws over what it drew, longer or shorter, and leaves what was printed above", () => {
    const terminal = fakeTerminal();
    const screen = createScreen(terminal);
    screen.print("endpoint");
    screen.draw(["one", "two", "three"]);
    expect(terminal.shown()).toEqual(["endpoint", "one", "two", "three"]);
    screen.draw(["1"]);
    expect(terminal.shown()).toEqual(["endpoint", "1"]);
    screen.draw(["a", "b"]);
    screen.print("a problem");
    expect(terminal.shown()).toEqual(["endpoint", "a problem", "a", "b"]);
    screen.end();
    screen.print("the end");
    expect(terminal.shown()).toEqual(["endpoint", "a problem", "a", "b", "the end", ""]);
  });
});
