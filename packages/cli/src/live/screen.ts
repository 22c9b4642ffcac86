import type { MachineRow, Picture } from "./picture.ts";
import { renderPicture, renderRow, seconds } from "./render.ts";

/** Where progress goes: redrawn in place on a terminal, one line a change elsewhere. */
export interface Screen {
  show(picture: Picture, elapsedMs: number): void;
  /** Leaves the last picture standing and prints `lines` below it. */
  finish(lines: readonly string[]): void;
}

/** @param stream a terminal gets the live picture, unless it cannot move the cursor (`TERM=dumb`) or writes a log of a build (`CI`) */
export function createScreen(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Screen {
  const isLive = stream.isTTY && environment["TERM"] !== "dumb" && (environment["CI"] ?? "") === "";
  return isLive ? createLiveScreen(stream) : createLineScreen(stream);
}

function createLiveScreen(stream: NodeJS.WriteStream): Screen {
  let drawn = 0;
  return {
    show(picture, elapsedMs) {
      // A terminal without a size says 0. The last column and line stay free: filling them would wrap or scroll.
      const columns = (stream.columns || 80) - 1;
      const rows = (stream.rows || 24) - 1;
      const lines = renderPicture(picture, { columns, rows, useColour: stream.hasColors(), elapsedMs });
      const up = drawn > 0 ? `\u001b[${drawn}A` : "";
      // Each line is cleared as it is overwritten, so that nothing is blank in between.
      stream.write(`${up}${lines.map((line) => `${line}\u001b[K\n`).join("")}\u001b[0J`);
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
