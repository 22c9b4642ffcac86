import type { KubeRequest, KubeResponse, KubeWatchEvent, RandomSource, Timers } from "@talos-operator/ports";
import { begin, type TroubleInput } from "./input.ts";

/** Ends the watches that are open, and changes what those bring that are opened meanwhile. */
interface Cutter {
  readonly cut: () => void;
  isOn: boolean;
}

/** How long watches live that are closed all the time. */
const SHORT_MS = 1_000;

const EXPIRED: KubeWatchEvent = {
  type: "ERROR",
  object: {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    reason: "Expired",
    code: 410,
    message: "too old resource version",
  },
};

type Events = AsyncIterable<KubeWatchEvent>;

/** Must be called before the first watch is opened. */
function disturb(input: TroubleInput, disturbed: (request: KubeRequest, events: Events) => Events): Cutter {
  const open = new Set<() => void>();
  const cutter: Cutter = {
    cut: () => {
      for (const end of open) end();
    },
    isOn: false,
  };
  input.stage.interference.watch = (request, events) => cuttable(cutter.isOn ? disturbed(request, events) : events, open);
  return cutter;
}

/** Until it is cut: then its server says that the version is too old. */
async function* cuttable(events: Events, open: Set<() => void>): Events {
  const { promise, resolve } = Promise.withResolvers<"cut">();
  const end = (): void => resolve("cut");
  open.add(end);
  const iterator = events[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), promise]);
      if (next === "cut") {
        yield EXPIRED;
        return;
      }
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    open.delete(end);
    // Its server may be waiting for its own events; its end is not waited for.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** Each watch ends after a second, in good order. */
export async function shortenWatches(input: TroubleInput, lastsMs: number): Promise<void> {
  const { timers } = input;
  const cutter = disturb(input, (_request, events) => forAWhile(events, timers));
  await begin(input, lastsMs);
  cutter.isOn = true;
  cutter.cut();
  await timers.sleep(lastsMs);
  cutter.isOn = false;
}

async function* forAWhile(events: Events, timers: Timers): Events {
  const over = new AbortController();
  const iterator = events[Symbol.asyncIterator]();
  const time = timers.sleep(SHORT_MS, over.signal).then(
    () => "over" as const,
    () => "over" as const,
  );
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), time]);
      if (next === "over" || next.done === true) return;
      yield next.value;
    }
  } finally {
    over.abort();
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** All watches end at once, and the next list of each kind is empty: once or twice, or of some kinds for as long as it lasts. */
export async function emptyLists(input: TroubleInput, lastsMs: number): Promise<void> {
  const { stage, random, timers } = input;
  const isStubborn = random.fraction() < 0.3;
  const told = new Map<string, number>();
  const chosen = new Map<string, boolean>();
  const isEmpty = (path: string): boolean => {
    if (isStubborn) {
      const known = chosen.get(path) ?? random.fraction() < 0.5;
      chosen.set(path, known);
      return known;
    }
    const times = told.get(path) ?? 0;
    told.set(path, times + 1);
    return times < 2;
  };
  const cutter = disturb(input, (request, events) =>
    request.query?.["sendInitialEvents"] === "true" && isEmpty(request.path) ? withoutBeginning(events) : events,
  );
  await begin(input, lastsMs);
  cutter.isOn = true;
  stage.interference.kube = ({ method, path, query }) => {
    const isList = method === "GET" && query?.["limit"] !== undefined && query["watch"] === undefined && path.startsWith("/apis/");
    if (!isList || !isEmpty(path)) return undefined;
    return { isDone: true, answer: withoutItems };
  };
  cutter.cut();
  await timers.sleep(lastsMs);
  cutter.isOn = false;
  stage.interference.kube = undefined;
  cutter.cut();
}

/** The version of the list stays true. */
function withoutItems(truth: KubeResponse): KubeResponse {
  const { continue: _next, ...metadata } = (truth.body as { readonly metadata?: { readonly continue?: string } }).metadata ?? {};
  return { ...truth, body: { ...(truth.body as object), metadata, items: [] } };
}

async function* withoutBeginning(events: Events): Events {
  let isBeginning = true;
  for await (const event of events) {
    if (event.type === "BOOKMARK") isBeginning = false;
    if (!isBeginning) yield event;
  }
}

/** Events come twice, late, after later ones of other kinds and other objects, or never, with the watch broken behind them. */
export async function garbleWatches(input: TroubleInput, lastsMs: number): Promise<void> {
  const { random, timers } = input;
  const cutter = disturb(input, (_request, events) => garbled(events, random, timers, () => cutter.isOn));
  await begin(input, lastsMs);
  cutter.isOn = true;
  cutter.cut();
  await timers.sleep(lastsMs);
  cutter.isOn = false;
  cutter.cut();
}

async function* garbled(events: Events, random: RandomSource, timers: Timers, isOn: () => boolean): Events {
  const lagMs = Math.floor(random.fraction() * 20_000);
  let held: KubeWatchEvent | undefined;
  for await (const event of events) {
    if (event.type === "BOOKMARK" || event.type === "ERROR" || !isOn()) {
      if (held !== undefined) yield held;
      held = undefined;
      yield event;
      continue;
    }
    const chance = random.fraction();
    if (chance < 0.3) await timers.sleep(Math.floor(random.fraction() * lagMs));
    if (chance < 0.1) {
      // It is lost, and so is the watch.
      yield EXPIRED;
      return;
    }
    if (chance > 0.9 && held === undefined) {
      held = event;
      continue;
    }
    yield event;
    if (chance > 0.7) yield event;
    if (held !== undefined) yield held;
    held = undefined;
  }
}
