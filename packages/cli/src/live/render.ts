import type { MachineRow, Picture } from "./picture.ts";

export interface RenderOptions {
  /** Width of the terminal in characters; longer lines are cut with an ellipsis. */
  readonly columns: number;
  readonly useColour: boolean;
  readonly elapsedMs: number;
}

const MARKS = { ready: "●", working: "◐", waiting: "○" } as const;

/** Draws the picture as lines, one machine a row. */
export function renderPicture(picture: Picture, options: RenderOptions): readonly string[] {
  const paint = options.useColour ? colour : plain;
  const lines: string[] = [""];
  for (const line of picture.headlines) {
    const mark = line.isReady ? paint("green", MARKS.ready) : paint("yellow", MARKS.working);
    lines.push(cut(`  ${mark} ${line.title}  ${line.state}  ${seconds(options.elapsedMs)}`, options));
    if (line.waitsFor !== "") lines.push(cut(`    waits for: ${line.waitsFor}`, options));
  }
  if (picture.rows.length === 0) return lines;
  const widths = columnWidths(picture.rows);
  lines.push("", paint("dim", `    ${"MACHINE".padEnd(widths.address)}  ${"ROLE".padEnd(13)}  ${"STAGE".padEnd(widths.stage)}  WAITS FOR`));
  for (const row of picture.rows) {
    const text = `${row.address.padEnd(widths.address)}  ${row.role.padEnd(13)}  ${row.stage.padEnd(widths.stage)}  ${row.waitsFor}`;
    lines.push(cut(`  ${markOf(row, paint)} ${row.role === "spare" ? paint("dim", text.trimEnd()) : text.trimEnd()}`, options));
  }
  return lines;
}

/** One line for logs and pipes, for example `12.3s  127.1.0.1  control plane  Installing  waits for the API`. */
export function renderRow(row: MachineRow, elapsedMs: number): string {
  const parts = [seconds(elapsedMs).padStart(7), row.address, row.role, row.stage, row.waitsFor === "" ? "" : `waits for: ${row.waitsFor}`];
  return parts.filter((part) => part !== "").join("  ");
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}

type Paint = (name: keyof typeof CODES, text: string) => string;
const CODES = { green: 32, yellow: 33, dim: 2 } as const;
const colour: Paint = (name, text) => `\u001b[${CODES[name]}m${text}\u001b[0m`;
const plain: Paint = (_name, text) => text;

function markOf(row: MachineRow, paint: Paint): string {
  if (row.role === "spare") return paint("dim", "·");
  return row.isReady ? paint("green", MARKS.ready) : row.stage === "Waiting" ? MARKS.waiting : paint("yellow", MARKS.working);
}

function columnWidths(rows: readonly MachineRow[]): { address: number; stage: number } {
  return {
    address: Math.max(7, ...rows.map((row) => row.address.length)),
    stage: Math.max(5, ...rows.map((row) => row.stage.length)),
  };
}

/** Cuts by visible characters: colour codes take no room. */
function cut(line: string, options: RenderOptions): string {
  // oxlint-disable-next-line no-control-regex -- the escape character is what is looked for
  const codes = /\u001b\[\d+m/g;
  const visible = line.replaceAll(codes, "").length;
  if (visible <= options.columns) return line;
  const excess = visible - options.columns + 1;
  return `${line.slice(0, -excess)}…`;
}
