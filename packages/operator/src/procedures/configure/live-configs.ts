import { isConfigError } from "@talos-operator/talos";
import { isTalosError } from "@talos-operator/talos/client";
import type { Clock, RandomSource } from "@talos-operator/ports";
import { ConfigRefusal } from "../../config/refusal.ts";
import { isEffectError } from "../../errors.ts";
import type { Turnstile } from "../../looking/turnstile.ts";
import type { ConfigQuestion } from "./read-config.ts";
import type { MachineName } from "../../model/machine.ts";
import type { KnownConfig, SeenConfig } from "../../model/config.ts";

/** After a reading that failed: first pause, and the longest. */
const RETRY_FIRST_MS = 2_000;
const RETRY_LONGEST_MS = 120_000;

/** A configuration that nothing is expected of is first read within this time, so that a new process does not read all at once. */
const SPREAD_MS = 60_000;

/** Machines of one cluster that are read at once. */
const AT_ONCE = 4;

/** A configuration that is to be known. */
export interface ConfigWish {
  readonly machine: MachineName;
  readonly question: ConfigQuestion;
  /** Everything that the comparison depends on; another key is another question. */
  readonly key: string;
  /** It is read again after this time, and up to half as long again. Milliseconds. */
  readonly everyMs: number;
  /** Something waits for the answer; otherwise the first reading may be put off for a while. */
  readonly isUrgent: boolean;
}

interface Entry {
  readonly key: string;
  readonly question: ConfigQuestion;
  value: SeenConfig;
  /** When it may be read: at first put off, after a failure paused; `undefined` from the moment that it is due until it was read. */
  dueAt: number | undefined;
  /** When the last reading succeeded. */
  readAt: number | undefined;
  failures: number;
}

/** What reading needs. */
export interface LiveConfigsPorts {
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Shared by all clusters: each goes through once for everything that is due. */
  readonly turnstile: Turnstile;
}

/** Reads machines of one cluster, with what was needed once for all of them. */
export interface ConfigReader {
  read(question: ConfigQuestion): Promise<KnownConfig>;
}

const notRead: SeenConfig = { kind: "unknown", detail: "not read yet" };

/**
 * The configurations of a cluster's machines as last read back, in memory only.
 *
 * Reading runs beside the passes: at join, when the spec changes, while and after an effect, when an operator starts, and every six hours or so.
 * Machines of a cluster are read together: what came due while the cluster waited for its turn comes along.
 */
export class LiveConfigs {
  readonly #ports: LiveConfigsPorts;
  readonly #entries = new Map<MachineName, Entry>();
  /** Due, and not begun. */
  readonly #queue = new Set<MachineName>();
  #isReading = false;
  /** Somebody was told that more is about to be known, and waits for it. */
  #isAwaited = false;
  /** One for all machines, so that those of which nothing is expected come due together. */
  readonly #firstAfterMs: number;
  /** Between 1 and 1.5, so that clusters are not all read at once. */
  readonly #jitter: number;
  #isClosed = false;

  constructor(ports: LiveConfigsPorts) {
    this.#ports = ports;
    this.#firstAfterMs = SPREAD_MS * ports.random.fraction();
    this.#jitter = 1 + ports.random.fraction() / 2;
  }

  /**
   * Reads what is due of exactly these machines; `wake` is called when news was read, and when the last of them was. What is known of others is forgotten.
   *
   * @param open begins the reading of machines; called when it is the cluster's turn
   */
  ask(wishes: readonly ConfigWish[], open: () => Promise<ConfigReader>, wake: () => void): void {
    if (this.#isClosed) return;
    const wanted = new Set(wishes.map((wish) => wish.machine));
    for (const name of this.#entries.keys()) if (!wanted.has(name)) this.#entries.delete(name);
    const now = this.#ports.clock.now();
    for (const wish of wishes) {
      const entry = this.#entryFor(wish, now);
      if (entry.dueAt === undefined) continue;
      const dueAt = entry.readAt === undefined ? entry.dueAt : entry.readAt + wish.everyMs * this.#jitter;
      const isFirst = entry.readAt === undefined && entry.failures === 0;
      if (now < dueAt && !(wish.isUrgent && isFirst)) continue;
      entry.dueAt = undefined;
      this.#queue.add(wish.machine);
    }
    if (this.#queue.size > 0 && !this.#isReading) void this.#readAll(open, wake);
  }

  /** What is known; machines that nobody asked for are not in it. */
  seen(): ReadonlyMap<MachineName, SeenConfig> {
    return new Map([...this.#entries].map(([name, entry]) => [name, entry.value]));
  }

  /** Asks for `wake` at the end of the reading that goes on, news or not. @returns false when nothing is being read */
  wakeAfterReading(): boolean {
    this.#isAwaited ||= this.#isReading;
    return this.#isReading;
  }

  /** Something was sent to the machine: what is known of it may be no longer so. */
  forget(machine: MachineName): void {
    this.#entries.delete(machine);
  }

  /** What is known is dated by a clock that was set since. */
  forgetAll(): void {
    this.#entries.clear();
  }

  close(): void {
    this.#isClosed = true;
    this.#entries.clear();
    this.#queue.clear();
  }

  #entryFor(wish: ConfigWish, now: number): Entry {
    const known = this.#entries.get(wish.machine);
    if (known?.key === wish.key) return known;
    const made: Entry = {
      key: wish.key,
      question: wish.question,
      value: notRead,
      dueAt: wish.isUrgent ? now : now + this.#firstAfterMs,
      readAt: undefined,
      failures: 0,
    };
    this.#entries.set(wish.machine, made);
    return made;
  }

  /** Never throws. */
  async #readAll(open: () => Promise<ConfigReader>, wake: () => void): Promise<void> {
    this.#isReading = true;
    let isNews = false;
    const readOn = async (reader: Promise<Opened>): Promise<void> => {
      for (const machine of this.#queue) {
        this.#queue.delete(machine);
        const entry = this.#entries.get(machine);
        if (entry === undefined) continue;
        const value = await tryRead(entry.question, reader);
        // Another question took its place meanwhile, or the cluster was released.
        if (this.#entries.get(machine) !== entry || !this.#note(entry, value)) continue;
        isNews = true;
        wake();
      }
    };
    while (this.#queue.size > 0)
      await this.#ports.turnstile.pass(async () => {
        if (this.#queue.size === 0) return;
        const reader = settled(open());
        await Promise.all(Array.from({ length: AT_ONCE }, () => readOn(reader)));
      });
    this.#isReading = false;
    // Who waits for the last one hears that there is no more to come, whatever was read: a pass that comes when the next reading is due waits again.
    const isAwaited = isNews || this.#isAwaited;
    this.#isAwaited = false;
    if (isAwaited && !this.#isClosed) wake();
  }

  /** @returns whether it says something new */
  #note(entry: Entry, value: SeenConfig): boolean {
    const now = this.#ports.clock.now();
    const isNews = JSON.stringify(withoutTime(entry.value)) !== JSON.stringify(withoutTime(value));
    entry.value = value;
    entry.readAt = value.kind === "known" ? now : undefined;
    entry.failures = value.kind === "known" ? 0 : entry.failures + 1;
    entry.dueAt = now + Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** Math.max(0, entry.failures - 1));
    return isNews;
  }
}

type Opened = { readonly reader: ConfigReader } | { readonly failure: unknown };

async function settled(opening: Promise<ConfigReader>): Promise<Opened> {
  try {
    return { reader: await opening };
  } catch (failure) {
    return { failure };
  }
}

async function tryRead(question: ConfigQuestion, opening: Promise<Opened>): Promise<SeenConfig> {
  try {
    const opened = await opening;
    if ("failure" in opened) throw opened.failure;
    return await opened.reader.read(question);
  } catch (thrown) {
    if (isTalosError(thrown)) return { kind: "unknown", detail: `it does not report its configuration (${thrown.code})` };
    if (isConfigError(thrown)) return { kind: "unknown", detail: `its configuration cannot be compared (${thrown.code})` };
    if (thrown instanceof ConfigRefusal) return { kind: "unknown", detail: thrown.message };
    if (isEffectError(thrown)) return { kind: "unknown", detail: thrown.detail };
    return { kind: "unknown", detail: "it could not be read" };
  }
}

function withoutTime(value: SeenConfig): unknown {
  return value.kind === "known" ? { ...value, at: 0 } : value;
}
