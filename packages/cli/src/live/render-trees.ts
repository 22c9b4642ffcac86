import type { TreeNode, TreeNote } from "@talos-operator/operator";
import { asciiOnly, cut, cutMiddle, oneLine, pad, widthOf } from "./text-width.ts";
import type { Terminal } from "./terminal.ts";
import { asciiBranches, isMachine, treeLines, unicodeBranches } from "./tree-lines.ts";
import type { TreeLine } from "./tree-lines.ts";

export interface RenderOptions {
  readonly terminal: Terminal;
  /** Machines of one pool that are alike are shown up to this many; absent: all. */
  readonly most?: number;
  /** Lines that there is room for; more machines are counted instead of shown. Absent: as many as it takes. */
  readonly rows?: number;
  /** What does not fit beside a machine stands below it as well: for what is not drawn anew, where lines that come and go disturb nobody. */
  readonly isStill?: boolean;
  /** Names are told with their namespace; absent: where there are several, or one that is not the usual one. */
  readonly withNamespace?: boolean;
}

/** From this width on, node, version and role have columns of their own. */
const WIDE = 118;
/** Beyond it names are cut, so that there is room for the rest. */
const LONGEST_NAME = { wide: 44, narrow: 28 } as const;
const READY_WIDTH = "Unknown".length;
/** The longest state that machines commonly have, so that columns do not move when one goes on. */
const STATE_WIDTH = "Bootstrapped".length;
const LONGEST_STATE = "IdentityMismatch".length;
/** Machines that are alike are shown up to this many where there is room, fewer where not. */
const FEWER = [10, 5, 3, 1, 0];

/** Draws trees of clusters as lines, none wider than the terminal. Pure. */
export function renderTrees(trees: readonly TreeNode[], given: RenderOptions): readonly string[] {
  const { rows, most = Number.POSITIVE_INFINITY } = given;
  const withNamespace = given.withNamespace ?? trees.some(({ namespace }) => namespace !== "default");
  const options = { ...given, withNamespace };
  if (rows === undefined) return drawn(trees, options, most);
  let lines: readonly string[] = [];
  for (const fewer of FEWER) {
    lines = drawn(trees, options, Math.min(most, fewer));
    if (lines.length <= rows) return lines;
  }
  const kept = Math.max(0, rows - 1);
  return [...lines.slice(0, kept), dim(fitted(`and ${lines.length - kept} more lines`, options.terminal), options.terminal)];
}

function drawn(trees: readonly TreeNode[], options: RenderOptions, most: number): readonly string[] {
  const { terminal } = options;
  const branches = terminal.useUnicode ? unicodeBranches : asciiBranches;
  const all = trees.map((tree) => treeLines(withoutSaid(tree, tree.headline ?? ""), { branches, most }));
  const table = tableFor(all.flat(), options);
  const headlines = trees.flatMap(({ name, headline }) => (headline === undefined ? [] : wrapped(`${name}: ${headline}`, terminal)));
  return [
    ...headlines,
    dim(table.head(), terminal),
    ...all.flatMap((lines, index) => [...(index === 0 ? [] : [""]), ...lines.flatMap(table.lines)]),
  ];
}

/** Lines that a headline takes at most: it is told whole where the terminal is not narrower than any. */
const MOST_HEADLINES = 3;

function wrapped(text: string, terminal: Terminal): readonly string[] {
  const { columns = Number.POSITIVE_INFINITY } = terminal;
  const lines = [""];
  for (const word of shown(oneLine(text), terminal).split(" ")) {
    const line = lines.at(-1) ?? "";
    const longer = line === "" ? word : `${line} ${word}`;
    if (line === "" || widthOf(longer) <= columns || lines.length === MOST_HEADLINES) lines[lines.length - 1] = longer;
    else lines.push(`  ${word}`);
  }
  return lines.map((line) => fitted(line, terminal));
}

/** What the headline says is not said once more below it. */
function withoutSaid(node: TreeNode, headline: string): TreeNode {
  if (headline === "") return node;
  const notes = node.notes.flatMap((note) => {
    const message = note.message
      .replace(headline, "")
      .replace(/^\w+ \S+: $/, "")
      .trim();
    return message === "" ? [] : [{ ...note, message }];
  });
  return { ...node, notes, children: node.children.map((child) => withoutSaid(child, headline)) };
}

interface Table {
  head(): string;
  lines(this: void, line: TreeLine): readonly string[];
}

/** A column: its head, and what stands in it for an object. */
interface Column {
  readonly head: string;
  readonly width: number;
  cell(this: void, node: TreeNode): string;
}

function tableFor(lines: readonly TreeLine[], options: RenderOptions): Table {
  const { terminal } = options;
  const { columns = Number.POSITIVE_INFINITY } = terminal;
  const isWide = columns >= WIDE;
  const label = (line: TreeLine): string => `${line.prefix}${labelOf(line, options)}`;
  const longest = Math.max("OBJECT".length, ...lines.map((line) => (line.kind === "note" ? 0 : widthOf(label(line)))));
  const nameWidth = columns === Number.POSITIVE_INFINITY ? longest : Math.min(longest, isWide ? LONGEST_NAME.wide : LONGEST_NAME.narrow);
  const nodes = lines.flatMap((line) => (line.kind === "object" ? [line.node] : []));
  const middle = isWide ? wideColumns(nodes) : [readyColumn, stateColumn(STATE_WIDTH)];
  const head = isWide ? "WAITS FOR" : "RUNS / WAITS FOR";
  const last = isWide ? waitOf : (node: TreeNode) => waitOf(node) || runsOf(node);
  const row = (first: string, cells: readonly string[], rest: string, paint = (text: string): string => text): string => {
    const name = pad(cutMiddle(first, nameWidth, ellipsisOf(terminal)), nameWidth);
    const texts = cells.map((cell, index) => {
      const { width = 0 } = middle[index] ?? {};
      return pad(cut(cell, width, ellipsisOf(terminal)), width);
    });
    const line = fitted([name, ...texts, rest].join("  ").trimEnd(), terminal);
    // Colour codes take no room: text is cut before it is painted.
    const from = name.length + 2;
    const ready = texts[0] ?? "";
    return line.length >= from + ready.length ? `${line.slice(0, from)}${paint(ready)}${line.slice(from + ready.length)}` : line;
  };
  return {
    head: () =>
      row(
        "OBJECT",
        middle.map((column) => column.head),
        head,
      ),
    lines: (line) => {
      if (line.kind === "note") return [fitted(`${line.prefix}! ${noteText(line.note)}`, terminal)];
      const { node } = line;
      // Of machines that are counted, what tells one from another is left out.
      const about = line.kind === "more" ? withoutName(node) : node;
      const before = nameWidth + middle.reduce((sum, { width }) => sum + 2 + width, 2);
      const wait = waitOf(about);
      const isCut = options.isStill === true && before + widthOf(shown(wait, terminal)) > columns;
      return [
        row(
          shown(label(line), terminal),
          middle.map((column) => shown(oneLine(column.cell(about)), terminal)),
          shown(isCut ? "" : last(about), terminal),
          (text) => coloured(text, node.ready, terminal),
        ),
        ...(isCut ? [fitted(`${" ".repeat(line.prefix.length)}! ${wait}`, terminal)] : []),
      ];
    },
  };
}

const readyColumn: Column = { head: "READY", width: READY_WIDTH, cell: ({ ready }) => ready };

function stateColumn(width: number): Column {
  return { head: "STATE", width, cell: ({ state }) => state };
}

/** What nobody knows has no column. */
function wideColumns(nodes: readonly TreeNode[]): readonly Column[] {
  const fitting = (head: string, cell: (node: TreeNode) => string, widest: number): readonly Column[] => {
    const width = Math.max(0, ...nodes.map((node) => widthOf(cell(node))));
    return width === 0 ? [] : [{ head, cell, width: Math.min(widest, Math.max(head.length, width)) }];
  };
  return [
    readyColumn,
    stateColumn(Math.min(LONGEST_STATE, Math.max(STATE_WIDTH, ...nodes.map(({ state }) => widthOf(state))))),
    { head: "ROLE", width: "control plane".length, cell: ({ role = "" }) => role },
    ...fitting("NODE", (node) => node.node ?? (node.machines === undefined ? "" : `${countOf(node)} ready`), 20),
    ...fitting("TALOS", ({ talos = "" }) => talos, 18),
    ...fitting("KUBERNETES", ({ kubernetes = "" }) => kubernetes, 12),
  ];
}

/** `2/3`, of what has machines. */
function countOf({ machines }: TreeNode): string {
  return machines === undefined ? "" : `${machines.ready}/${machines.wanted}`;
}

/** In a narrow terminal: what a ready object runs. */
function runsOf(node: TreeNode): string {
  const { talos, kubernetes } = node;
  const words = [
    isMachine(node) ? oneLine(node.node ?? "") : countOf(node),
    talos ?? "",
    kubernetes === undefined ? "" : `k8s ${kubernetes}`,
  ];
  return words.filter((word) => word !== "").join("  ");
}

/** What a machine waits for; clusters and pools say it below their line. */
function waitOf(node: TreeNode): string {
  const [first] = node.notes;
  return !isMachine(node) || first === undefined ? "" : noteText(first);
}

/** Conditions that sum up, and need no name. */
const SUMS: ReadonlySet<string> = new Set(["Ready", "Progressing", "Reconciling"]);

function noteText({ type, status, message }: TreeNote): string {
  const text = oneLine(message);
  if (SUMS.has(type)) return text;
  return status === "False" ? `not ${type}: ${text}` : `${type}: ${text}`;
}

function labelOf(line: TreeLine, { withNamespace }: RenderOptions): string {
  if (line.kind === "note") return "";
  if (line.kind === "more") return line.isAll ? `${line.count.toLocaleString("en")} machines` : `+ ${line.count.toLocaleString("en")} more`;
  const { kind, name, namespace } = line.node;
  const isRoot = line.prefix === "";
  if (isRoot && withNamespace === true) return oneLine(`${kind} ${namespace}/${name}`);
  return oneLine(isMachine(line.node) && !isRoot ? name : `${kind}/${name}`);
}

function withoutName(node: TreeNode): TreeNode {
  const { node: _, ...rest } = node;
  return { ...rest, notes: node.notes.map((note) => ({ ...note, message: note.message.replaceAll(node.name, "each") })) };
}

function shown(text: string, { useUnicode }: Terminal): string {
  return useUnicode ? text : asciiOnly(text);
}

function ellipsisOf({ useUnicode }: Terminal): string {
  return useUnicode ? "…" : "...";
}

function fitted(text: string, terminal: Terminal): string {
  const line = terminal.useUnicode ? text : asciiOnly(text);
  return terminal.columns === undefined ? line : cut(line, terminal.columns, ellipsisOf(terminal));
}

const CODES = { True: 32, False: 33, Unknown: 33 } as const;

function coloured(text: string, ready: TreeNode["ready"], { useColour }: Terminal): string {
  return useColour ? `\u001b[${CODES[ready]}m${text}\u001b[0m` : text;
}

function dim(text: string, { useColour }: Terminal): string {
  return useColour ? `\u001b[2m${text}\u001b[0m` : text;
}
