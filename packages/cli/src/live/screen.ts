import type { MachineRow, Picture } from "./picture.ts";
import { renderPicture, renderRow, seconds } from "./render.ts";

/** Where progress goes: redrawn in place on a terminal, one line a change elsewhere. */
export interface Screen {
  show(picture: Picture, elapsedMs: number): void;
  /** Leaves the last picture standing and prints `lines` below it. */
  finish(lines: readonly string[]): void;
}

export function createScreen(stream: NodeJS.WriteStream): Screen {
  return stream.isTTY ? createLiveScreen(stream) : createLineScreen(stream);
}

function createLiveScreen(stream: NodeJS.WriteStream): Screen {
  let drawn = 0;
  return {
    show(picture, elapsedMs) {
      const useColour = stream.hasColors();
      // A picture taller than the window would scroll and could not be drawn over.
      const lines = renderPicture(picture, { columns: stream.columns, useColour, elapsedMs }).slice(0, Math.max(3, stream.rows - 1));
      const up = drawn > 0 ? `\u001b[${drawn}A` : "";
      stream.write(`${up}\u001b[0J${lines.join("\n")}\n`);
      drawn = lines.length;
    },
    finish(lines) {
      drawn = 0;
      for (const line of lines) stream.write(`${line}\n`);
    },
  };
}

function createLineScreen(stream: NodeJS.WriteStream): Screen {
  const shown = new Map<string, string>();
  const changed = (key: string, text: string): boolean => {
    if (shown.get(key) === text) return false;
    shown.set(key, text);
    return true;
  };
  return {
    show(picture, elapsedMs) {
      for (const line of picture.headlines) {
        const text = line.waitsFor === "" ? line.state : `${line.state}  waits for: ${line.waitsFor}`;
        if (changed(line.title, text)) stream.write(`${seconds(elapsedMs).padStart(7)}  ${line.title}  ${text}\n`);
      }
      for (const row of picture.rows) {
        if (row.role !== "spare" && changed(row.address, rowKey(row))) stream.write(`${renderRow(row, elapsedMs)}\n`);
      }
    },
    finish(lines) {
      for (const line of lines) stream.write(`${line}\n`);
    },
  };
}

function rowKey(row: MachineRow): string {
  return `${row.stage}\n${row.waitsFor}`;
}
