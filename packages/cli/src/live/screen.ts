import { createChangeTeller } from "./changes.ts";
import { renderTrees } from "./render-trees.ts";
import { isDrawable, terminalOf } from "./terminal.ts";
import { cut, oneLine, widthOf } from "./text-width.ts";
import type { View } from "./view.ts";

/** Where a view goes: drawn anew in place on a terminal, one line a change elsewhere. */
export interface Screen {
  show(view: View): void;
  /** Prints lines that stay below the last view, `said` to where lines that stay go; later views are drawn below them. */
  keep(before: readonly string[], said: readonly string[], after: readonly string[]): void;
}

export interface ScreenOptions {
  /** Absent: where clusters are in several namespaces, or not in the usual one. */
  readonly withNamespace?: boolean;
  /** Machines of one pool that are alike are shown up to this many; absent: all. */
  readonly most?: number;
  /** Where lines that stay go; default is the stream of the view. */
  readonly kept?: NodeJS.WriteStream;
  /** Elsewhere than on a terminal: begins with the whole view, and tells changes from there on. */
  readonly beginsWhole?: boolean;
}

/** Events below the trees. */
const MOST_EVENTS = 6;
/** A view gets at least this many lines, whatever was kept above it. */
const LEAST_ROWS = 16;

/** @param stream a terminal gets the live view, unless it cannot move the cursor or keeps the log of a build */
export function createScreen(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv, options: ScreenOptions): Screen {
  return isDrawable(stream, environment) ? createLiveScreen(stream, environment, options) : createLineScreen(stream, environment, options);
}

function createLiveScreen(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv, options: ScreenOptions): Screen {
  let drawn = 0;
  let keptRows = 0;
  const begin = (): string => (drawn > 0 ? `\u001b[${drawn}A` : "");
  const { kept = stream } = options;
  return {
    show(view) {
      const terminal = terminalOf(stream, environment);
      const { columns = 79, rows = 23 } = terminal;
      const room = Math.max(Math.min(LEAST_ROWS, rows), rows - keptRows);
      const fit = (text: string): string => cut(oneLine(text), columns, terminal.useUnicode ? "…" : "...");
      const above = view.title === undefined ? [] : [fit(view.title)];
      const beside = (view.beside ?? []).map(fit);
      const events = (view.events ?? []).slice(-MOST_EVENTS).map((event) => fit(`${event.at}  ${event.text}`));
      const trees = renderTrees(view.trees, {
        ...options,
        terminal,
        rows: room - above.length - beside.length - Math.min(events.length, 2) - 2,
      });
      const left = room - above.length - trees.length - beside.length - 2;
      const below = left <= 0 || events.length === 0 ? [] : ["", ...events.slice(-left)];
      const lines = ["", ...above, ...(view.trees.length === 0 ? [] : trees), ...beside, ...below];
      // Each line is cleared as it is overwritten, so that nothing is blank in between.
      stream.write(`${begin()}${lines.map((line) => `${line}\u001b[K\n`).join("")}\u001b[0J`);
      drawn = lines.length;
    },
    keep(before, said, after) {
      // What follows is drawn below: the view that stands there is the same.
      stream.write(`${begin()}\u001b[0J${text(before)}`);
      drawn = 0;
      kept.write(text(said));
      stream.write(text(after));
      const { columns = 79 } = terminalOf(stream, environment);
      // Commands are not cut: they may take more than one line.
      const lines = [...before, ...(kept.isTTY ? said : []), ...after];
      keptRows = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / (columns + 1))), 0);
    },
  };
}

function createLineScreen(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv, options: ScreenOptions): Screen {
  const changes = createChangeTeller();
  const told = new Set<string>();
  const { kept = stream } = options;
  let isFirst = true;
  return {
    show({ trees, at, title, events = [] }) {
      const before = at === undefined ? "" : `${at}  `;
      const lines = changes.tell(trees);
      if (isFirst && options.beginsWhole === true) {
        const { columns: _columns, rows: _rows, ...terminal } = terminalOf(stream, environment);
        stream.write(text(trees.length === 0 ? [title ?? ""] : renderTrees(trees, { ...options, terminal })));
      } else for (const line of lines) stream.write(`${before}${line}\n`);
      isFirst = false;
      for (const { id, at: when, text: words } of events) {
        if (told.has(id)) continue;
        told.add(id);
        stream.write(`${when}  ${oneLine(words)}\n`);
      }
    },
    keep(before, said, after) {
      stream.write(text(before));
      kept.write(text(said));
      stream.write(text(after));
    },
  };
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
