import type { WorkPriority } from "./types.ts";

/** Due keys in the order in which they are to be handed out. */
export interface ReadyLine {
  readonly size: number;
  readonly lowSize: number;
  /** Since when the key that has been due longest is due; `undefined` when none is. */
  oldestSince(): number | undefined;
  /** Puts a key at the end of its group. The key must not be in the line. */
  push(key: string, priority: WorkPriority, since: number): void;
  /** A low key becomes normal and keeps the time since when it is due. Nothing happens for any other. */
  raise(key: string): void;
  /** Takes the next key out. */
  shift(): { readonly key: string; readonly priority: WorkPriority; readonly since: number } | undefined;
  clear(): void;
}

/** So many normal keys in a row go ahead of a low one that is due. */
const normalInARow = 4;

/** Groups in turn, each with its keys in order. A Map keeps the order of insertion, so the first group is the one whose turn it is. */
type Lane = Map<string, Map<string, number>>;

/** An empty line. */
export function createReadyLine(groupOf: (key: string) => string = () => ""): ReadyLine {
  const lanes: Readonly<Record<WorkPriority, Lane>> = { normal: new Map(), low: new Map() };
  /** All due keys, the one that has been due longest first. */
  const all = new Map<string, { readonly since: number; priority: WorkPriority; readonly group: string }>();
  let lowSize = 0;
  let normalsSinceLow = 0;

  function put(key: string, group: string, priority: WorkPriority, since: number): void {
    const lane = lanes[priority];
    const keys = lane.get(group);
    if (keys === undefined) lane.set(group, new Map([[key, since]]));
    else keys.set(key, since);
    if (priority === "low") lowSize += 1;
  }

  function pull(key: string, group: string, priority: WorkPriority): void {
    const lane = lanes[priority];
    const keys = lane.get(group);
    keys?.delete(key);
    if (keys?.size === 0) lane.delete(group);
    if (priority === "low") lowSize -= 1;
  }

  function nextPriority(): WorkPriority | undefined {
    if (lowSize === 0) return all.size === 0 ? undefined : "normal";
    return all.size === lowSize || normalsSinceLow >= normalInARow ? "low" : "normal";
  }

  return {
    get size() {
      return all.size;
    },
    get lowSize() {
      return lowSize;
    },
    oldestSince() {
      const [first] = all.values();
      return first?.since;
    },
    push(key, priority, since) {
      const group = groupOf(key);
      all.set(key, { since, priority, group });
      put(key, group, priority, since);
    },
    raise(key) {
      const entry = all.get(key);
      if (entry?.priority !== "low") return;
      pull(key, entry.group, "low");
      entry.priority = "normal";
      put(key, entry.group, "normal", entry.since);
    },
    shift() {
      const priority = nextPriority();
      if (priority === undefined) return undefined;
      normalsSinceLow = priority === "low" || lowSize === 0 ? 0 : normalsSinceLow + 1;
      const lane = lanes[priority];
      const [turn] = lane;
      const [first] = turn?.[1] ?? [];
      if (turn === undefined || first === undefined) return undefined;
      const [group, keys] = turn;
      const [key, since] = first;
      pull(key, group, priority);
      all.delete(key);
      if (keys.size > 0) {
        // To the end: the other groups first.
        lane.delete(group);
        lane.set(group, keys);
      }
      return { key, priority, since };
    },
    clear() {
      all.clear();
      lanes.normal.clear();
      lanes.low.clear();
      lowSize = 0;
    },
  };
}
