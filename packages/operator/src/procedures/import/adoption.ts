import type { SecretsBundle } from "@talos-operator/talos";
import { isConfigError } from "@talos-operator/talos";
import { isTalosError } from "@talos-operator/talos/client";
import { elapsedMs } from "../../elapsed.ts";
import { isEffectError } from "../../errors.ts";
import type { MachineName } from "../../model/machine.ts";
import type { FoundBundle, MachineReading } from "../../model/adoption.ts";

/** Readings are made anew after this time. Milliseconds. */
const READ_AGAIN_MS = 120_000;

/** One that failed. */
const RETRY_MS = 5_000;

/** Machines that are read at once. */
const AT_ONCE = 8;

interface Entry {
  readonly key: string;
  value: MachineReading | string;
  /** When it was last read; `undefined` = not yet. */
  readAt: number | undefined;
  isBeingRead: boolean;
}

/** Readings of a cluster that is to be taken over, made beside the passes, in memory only. */
export class AdoptionReadings {
  readonly #entries = new Map<MachineName, Entry>();
  #underWay = 0;

  /** Reads what is due; `wake` is called after each. `key` stands for everything that the comparison depends on. */
  ask(
    wanted: readonly { readonly name: MachineName; readonly key: string; readonly read: () => Promise<MachineReading> }[],
    now: () => number,
    wake: () => void,
  ): void {
    const names = new Set(wanted.map(({ name }) => name));
    for (const name of this.#entries.keys()) if (!names.has(name)) this.#entries.delete(name);
    for (const { name, key, read } of wanted) {
      const known = this.#entries.get(name);
      const entry = known?.key === key ? known : { key, value: "not read yet", readAt: undefined, isBeingRead: false };
      this.#entries.set(name, entry);
      const pauseMs = typeof entry.value === "string" ? RETRY_MS : READ_AGAIN_MS;
      const isFresh = entry.readAt !== undefined && elapsedMs(entry.readAt, now()) < pauseMs;
      if (isFresh || entry.isBeingRead || this.#underWay >= AT_ONCE) continue;
      entry.isBeingRead = true;
      this.#underWay += 1;
      void this.#read(entry, read, now).then(wake);
    }
  }

  seen(): ReadonlyMap<MachineName, MachineReading | string> {
    return new Map([...this.#entries].map(([name, { value }]) => [name, value]));
  }

  async #read(entry: Entry, read: () => Promise<MachineReading>, now: () => number): Promise<void> {
    try {
      entry.value = await read();
    } catch (thrown) {
      entry.value = wordsOf(thrown);
    } finally {
      entry.readAt = now();
      entry.isBeingRead = false;
      this.#underWay -= 1;
    }
  }
}

function wordsOf(thrown: unknown): string {
  if (isTalosError(thrown)) return `it does not report its configuration (${thrown.code})`;
  if (isConfigError(thrown)) return `its configuration cannot be compared (${thrown.code})`;
  return isEffectError(thrown) ? thrown.detail : "it could not be read";
}

/** Keys that were found, held while the cluster is verified. */
export interface HeldBundle {
  readonly at: number;
  readonly places: readonly FoundBundle[];
  readonly bundle: SecretsBundle | undefined;
}
