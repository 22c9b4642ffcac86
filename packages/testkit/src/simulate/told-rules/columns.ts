import type { ToldRule } from "./rule.ts";
import { WRITTEN_MS } from "./rule.ts";
import { conditionOf, isHeld, type ToldObject } from "./told.ts";

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
      if (word === undefined || isHeld(object)) return;
      const isReady = conditionOf(object, "Ready")?.status === "True";
      if (words.includes(word) !== isReady)
        broken(
          `${object.kind} ${object.metadata?.name}`,
          () => `${object.kind} ${object.metadata?.name} shows ${word}, and Ready is ${String(isReady)}`,
        );
    };
    for (const { plural, object } of pools) judge(object, object.status?.state, READY_WORDS[plural] ?? []);
    for (const object of clusters) if (object.kind === "KubernetesCluster") judge(object, object.status?.phase, ["Running", "Ready"]);
  },
};

/** W18 the machines that are counted are those that are listed, and as many of them ready as say so themselves. */
const counts: ToldRule = {
  id: "W18",
  toleranceMs: WRITTEN_MS + 10_000,
  judge({ pools, clusters }, broken) {
    const sums = { wanted: 0, ready: 0 };
    const judge = (object: ToldObject, wanted: number, ready: number): void => {
      const { status } = object;
      if (isHeld(object) || status?.machines === undefined || object.metadata?.deletionTimestamp !== undefined) return;
      if (status.machines !== `${ready}/${wanted}` || status.wantedMachines !== wanted || status.readyMachines !== ready)
        broken(
          `${object.kind} ${object.metadata?.name}`,
          () => `${object.kind} ${object.metadata?.name} shows ${status.machines}, and ${ready}/${wanted} are ready`,
        );
    };
    for (const { object, machines } of pools) {
      const listed = machines.filter(({ isListed }) => isListed);
      const ready = listed.filter((machine) => conditionOf(machine.object, "Ready")?.status === "True").length;
      sums.wanted += listed.length;
      sums.ready += ready;
      judge(object, listed.length, ready);
    }
    for (const object of clusters) judge(object, sums.wanted, sums.ready);
  },
};

export const columnRules: readonly ToldRule[] = [readyWords, counts];
