import { isConfigError } from "@talos-operator/talos";
import { isTalosError } from "@talos-operator/talos/client";
import type { Clock, RandomSource } from "@talos-operator/ports";
import { ConfigRefusal } from "../../config/refusal.ts";
import { isEffectError } from "../../errors.ts";
import type { Turnstile } from "../../looking/turnstile.ts";
import type { MachineName } from "./model.ts";
import type { KnownConfig, SeenConfig } from "./seen-config.ts";

/** After a reading that failed: first pause, and the longest. */
const RETRY_FIRST_MS = 2_000;
const RETRY_LONGEST_MS = 120_000;

/** A configuration that nothing is expected of is first read within this time, so that a new process does not read all at once. */
const SPREAD_MS = 60_000;

/** A configuration that is to be known. */
export interface ConfigWish {
  readonly machine: MachineName;
  /** Everything that the comparison depends on; another key is another question. */
  readonly key: string;
  /** It is read again after this time, and up to half as long again. Milliseconds. */
  readonly everyMs: number;
  /** Something waits for the answer; otherwise the first reading may be put off for a while. */
  readonly isUrgent: boolean;
}

interface Entry {
  readonly key: string;
  value: SeenConfig;
  /** When it may be read: at first put off, after a failure paused; `undefined` while it is being read. */
  dueAt: number | undefined;
  /** When the last reading succeeded. */
  readAt: number | undefined;
  /** Between 1 and 1.5, so that machines are not all read at once. */
  readonly jitter: number;
  failures: number;
}

/** What reading needs. */
export interface LiveConfigsPorts {
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Shared by all clusters. */
  readonly turnstile: Turnstile;
}

const notRead: SeenConfig = { kind: "unknown", detail: "not read yet" };

/**
 * The configurations of a cluster's machines as last read back, in memory only.
 *
 * Reading runs beside the passes: at join, when the spec changes, while and after an effect, when an operator starts, and every six hours or so.
 */
export class LiveConfigs {
  readonly #ports: LiveConfigsPorts;
  readonly #entries = new Map<MachineName, Entry>();
  #isClosed = false;

  constructor(ports: LiveConfigsPorts) {
    this.#ports = ports;
  }

  /** Reads what is due of exactly these machines; `wake` is called when one was read. What is known of others is forgotten. */
  ask(wishes: readonly ConfigWish[], read: (machine: MachineName) => Promise<KnownConfig>, wake: () => void): void {
    if (this.#isClosed) return;
    const wanted = new Set(wishes.map((wish) => wish.machine));
    for (const name of this.#entries.keys()) if (!wanted.has(name)) this.#entries.delete(name);
    const now = this.#ports.clock.now();
    for (const wish of wishes) {
      const entry = this.#entryFor(wish, now);
      if (entry.dueAt === undefined) continue;
      const dueAt = entry.readAt === undefined ? entry.dueAt : entry.readAt + wish.everyMs * entry.jitter;
      const isFirst = entry.readAt === undefined && entry.failures === 0;
      if (now >= dueAt || (wish.isUrgent && isFirst)) void this.#read(wish.machine, entry, read, wake);
    }
  }

  /** What is known; machines that nobody asked for are not in it. */
  seen(): ReadonlyMap<MachineName, SeenConfig> {
    return new Map([...this.#entries].map(([name, entry]) => [name, entry.value]));
  }

  /** Something was sent to the machine: what is known of it may be no longer so. */
  forget(machine: MachineName): void {
    this.#entries.delete(machine);
  }

  close(): void {
    this.#isClosed = true;
    this.#entries.clear();
  }

  #entryFor(wish: ConfigWish, now: number): Entry {
    const known = this.#entries.get(wish.machine);
    if (known?.key === wish.key) return known;
    const { random } = this.#ports;
    const made: Entry = {
      key: wish.key,
      value: notRead,
      dueAt: wish.isUrgent ? now : now + SPREAD_MS * random.fraction(),
      readAt: undefined,
      jitter: 1 + random.fraction() / 2,
      failures: 0,
    };
    this.#entries.set(wish.machine, made);
    return made;
  }

  async #read(machine: MachineName, entry: Entry, read: (machine: MachineName) => Promise<KnownConfig>, wake: () => void): Promise<void> {
    entry.dueAt = undefined;
    const value = await this.#ports.turnstile.pass(() => this.#tryRead(machine, entry, read));
    // Another question took its place meanwhile, or the cluster was let go.
    if (this.#isClosed || this.#entries.get(machine) !== entry) return;
    const now = this.#ports.clock.now();
    const isNews = JSON.stringify(withoutTime(entry.value)) !== JSON.stringify(withoutTime(value));
    entry.value = value;
    entry.readAt = value.kind === "known" ? now : undefined;
    entry.failures = value.kind === "known" ? 0 : entry.failures + 1;
    entry.dueAt = now + Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** Math.max(0, entry.failures - 1));
    if (isNews) wake();
  }

  async #tryRead(machine: MachineName, entry: Entry, read: (machine: MachineName) => Promise<KnownConfig>): Promise<SeenConfig> {
    if (this.#isClosed || this.#entries.get(machine) !== entry) return notRead;
    try {
      return await read(machine);
    } catch (thrown) {
      if (isTalosError(thrown)) return { kind: "unknown", detail: `it does not tell its configuration (${thrown.code})` };
      if (isConfigError(thrown)) return { kind: "unknown", detail: `its configuration cannot be compared (${thrown.code})` };
      if (thrown instanceof ConfigRefusal) return { kind: "unknown", detail: thrown.message };
      if (isEffectError(thrown)) return { kind: "unknown", detail: thrown.detail };
      return { kind: "unknown", detail: "it could not be read" };
    }
  }
}

function withoutTime(value: SeenConfig): unknown {
  return value.kind === "known" ? { ...value, at: 0 } : value;
}
