import type { Size } from "./frame.ts";

/** A part of the terminal that is drawn again and again, below what was printed before. */
export interface Screen {
  size(): Size;
  /** Puts `lines` in place of what was drawn last. */
  draw(lines: readonly string[]): void;
  /** Prints `line` above what is drawn, where it stays. */
  print(line: string): void;
  /** Leaves what is drawn where it is; what is printed from now on goes below. */
  end(): void;
}

/** What a screen needs of a terminal. */
export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  write(text: string): boolean;
}

/** The size taken for a terminal that does not tell its own. */
const SIZE_DEFAULT: Size = { columns: 80, rows: 24 };

/** ECMA-48 control sequences: cursor up, cursor left, erase from the cursor to the end of the screen. */
const up = (lines: number): string => (lines > 0 ? `\u001b[${lines}A` : "");
const left = (columns: number): string => (columns > 0 ? `\u001b[${columns}D` : "");
const ERASE_BELOW = "\u001b[J";

/** A {@link Screen} on a terminal. */
export function createScreen(terminal: Terminal): Screen {
  let drawn: readonly string[] = [];
  const erasure = (): string => up(drawn.length - 1) + left(drawn.at(-1)?.length ?? 0) + ERASE_BELOW;
  const draw = (lines: readonly string[]): void => {
    // One write, so that the terminal never shows a half-drawn frame.
    terminal.write(erasure() + lines.join("\n"));
    drawn = lines;
  };
  return {
    size: () => ({ columns: terminal.columns || SIZE_DEFAULT.columns, rows: terminal.rows || SIZE_DEFAULT.rows }),
    draw,
    print: (line) => {
      terminal.write(`${erasure()}${line}\n${drawn.join("\n")}`);
    },
    end: () => {
      if (drawn.length > 0) terminal.write("\n");
      drawn = [];
    },
  };
}
