import type { ToldRule } from "./rule.ts";
import { WRITTEN_MS } from "./rule.ts";
import { conditionOf, nameOf, type ToldObject } from "./told.ts";

/** Words of the column State or Phase that say that an object is ready. */
const READY_WORDS: Readonly<Record<string, readonly string[]>> = {
  taloscontrolplanes: ["Ready"],
  talosworkers: ["Ready"],
};

/** W17 a column says what the conditions say. */
const readyWords: ToldRule = {
  id: "W17",
  toleranceMs: 0,
  judge({ pools, clusters }, broken) {
    const judge = (object: ToldObject, word: string | undefined, words: readonly string[]): void => {
      if (word === undefined) return;
      const isReady = conditionOf(object, "Ready")?.status === "True";
      if (words.includes(word) !== isReady)
        broken(nameOf(object), () => `${nameOf(object)} shows ${word}, and Ready is ${String(isReady)}`);
    };
    for (const { plural, object } of pools) judge(object, object.status?.state, READY_WORDS[plural] ?? []);
    for (const object of clusters) if (object.kind === "KubernetesCluster") judge(object, object.status?.phase, ["Running", "Ready"]);
  },
};

/** W18 the machines that are counted are those that are listed, and as many of them ready as say so themselves. */
const counts: ToldRule = {
  id: "W18",
  // A pool waits for up to 8 s between two writes, and its cluster for as long once more.
  toleranceMs: WRITTEN_MS + 2 * 8_000,
  judge({ pools, clusters }, broken) {
    const all: Counted[] = [];
    const judge = (object: ToldObject, listed: readonly Counted[]): void => {
      const { status, metadata } = object;
      if (status?.machines === undefined || metadata?.deletionTimestamp !== undefined) return;
      const [ready, wanted] = [listed.filter(({ reason }) => reason === "AllReady").length, listed.length];
      if (status.machines === `${ready}/${wanted}` && status.wantedMachines === wanted && status.readyMachines === ready) return;
      const told = listed.map(({ name, reason }) => `${name} ${reason}`);
      // Between two looks one number may have followed another.
      broken(`${nameOf(object)} ${status.machines}`, () => `${nameOf(object)} shows ${status.machines}: ${told.join(", ")}`);
    };
    for (const { object, machines } of pools) {
      // What leaves with its pool is not wanted any more.
      if (object.metadata?.deletionTimestamp !== undefined) continue;
      const listed = machines.flatMap((machine): readonly Counted[] =>
        machine.isListed ? [{ name: machine.name, reason: conditionOf(machine.object, "Ready")?.reason ?? "" }] : [],
      );
      all.push(...listed);
      judge(object, listed);
    }
    for (const object of clusters) judge(object, all);
  },
};

/** A listed machine, and what its own object says. */
interface Counted {
  readonly name: string;
  readonly reason: string;
}

export const columnRules: readonly ToldRule[] = [readyWords, counts];
