import type { Headline, MachineRow, Picture } from "./picture.ts";

export interface RenderOptions {
  /** Width of the terminal in characters; longer lines are cut with an ellipsis. */
  readonly columns: number;
  /** Lines that fit. Machines beyond them are counted instead of shown: spares first, then those that are ready. */
  readonly rows: number;
  readonly useColour: boolean;
  readonly elapsedMs: number;
}

const MARKS = { ready: "●", working: "◐", waiting: "○", spare: "·" } as const;
/** Below this width the role gives its room to what is waited for: the rows are in the order of the roles. */
const WIDE = 72;
/** The longest stage, so that columns do not move when a machine goes on. */
const STAGE_WIDTH = "Unreachable".length;
/** Always this many while something is waited for, so that the machines below stay where they are. */
const WAITING_LINES = 2;

/** Draws the picture as lines, one machine a row. */
export function renderPicture(picture: Picture, options: RenderOptions): readonly string[] {
  const lines = ["", ...picture.headlines.flatMap((line) => headlineLines(line, options))];
  if (picture.rows.length === 0) return lines.slice(0, options.rows);
  const { shown, hidden } = fit(picture.rows, options.rows - lines.length - 2);
  const address = Math.max(7, ...picture.rows.map((row) => row.address.length));
  const columns = (...[machine, role, stage, rest]: [string, string, string, string]): string =>
    [machine.padEnd(address), ...(options.columns < WIDE ? [] : [role.padEnd(13)]), stage.padEnd(STAGE_WIDTH), rest].join("  ").trimEnd();
  lines.push("", paint("dim", cut(`    ${columns("MACHINE", "ROLE", "STAGE", "WAITS FOR")}`, options.columns), options));
  for (const row of shown) {
    const text = cut(columns(row.address, row.role, row.stage, row.waitsFor), options.columns - 4);
    lines.push(`  ${markOf(row, options)} ${row.role === "spare" ? paint("dim", text, options) : text}`);
  }
  if (hidden > 0) lines.push(paint("dim", cut(`    and ${hidden} more`, options.columns), options));
  return lines.slice(0, options.rows);
}

/** One line for logs and pipes, for example `12.3s  127.1.0.1  control plane  Installing  waits for the API`. */
export function renderRow(row: MachineRow, elapsedMs: number): string {
  const parts = [seconds(elapsedMs).padStart(7), row.address, row.role, row.stage, row.waitsFor === "" ? "" : `waits for: ${row.waitsFor}`];
  return parts.filter((part) => part !== "").join("  ");
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}

function headlineLines(line: Headline, options: RenderOptions): readonly string[] {
  const mark = line.isReady ? paint("green", MARKS.ready, options) : paint("yellow", MARKS.working, options);
  const title = `  ${mark} ${cut(`${line.title}  ${line.state}  ${seconds(options.elapsedMs)}`, options.columns - 4)}`;
  if (line.waitsFor === "") return [title];
  const text = wrap(`waits for: ${line.waitsFor}`, options.columns - 4);
  return [title, ...Array.from({ length: WAITING_LINES }, (_, index) => (text[index] === undefined ? "" : `    ${text[index]}`))];
}

/** At most {@link WAITING_LINES} lines; the last is cut. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  while (lines.length < WAITING_LINES - 1 && rest.length > width) {
    const space = rest.lastIndexOf(" ", width);
    const end = space > width / 2 ? space : width;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, cut(rest, width)];
}

/** Leaves out the least interesting machines, in the order in which they stand. */
function fit(rows: readonly MachineRow[], room: number): { readonly shown: readonly MachineRow[]; readonly hidden: number } {
  if (rows.length <= room) return { shown: rows, hidden: 0 };
  const interest = (row: MachineRow): number => (row.role === "spare" ? 2 : row.isReady ? 1 : 0);
  const kept = new Set(rows.toSorted((a, b) => interest(a) - interest(b)).slice(0, Math.max(0, room - 1)));
  return { shown: rows.filter((row) => kept.has(row)), hidden: rows.length - kept.size };
}

const CODES = { green: 32, yellow: 33, dim: 2 } as const;

/** Colour codes take no room: text is cut before it is painted. */
function paint(name: keyof typeof CODES, text: string, { useColour }: RenderOptions): string {
  return useColour ? `\u001b[${CODES[name]}m${text}\u001b[0m` : text;
}

function markOf(row: MachineRow, options: RenderOptions): string {
  if (row.role === "spare") return paint("dim", MARKS.spare, options);
  if (row.isReady) return paint("green", MARKS.ready, options);
  return row.stage === "Waiting" ? MARKS.waiting : paint("yellow", MARKS.working, options);
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
