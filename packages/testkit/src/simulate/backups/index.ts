import type { ObjectView } from "../object-view.ts";
import type { RandomSource } from "@talos-operator/ports";
import { createMemoryObjectStore } from "../../world/memory-object-store.ts";
import type { Keeping } from "../../world/memory-object-store.ts";
import { createBackupRules } from "../backup-rules.ts";
import { pick } from "../fault.ts";
import { createAskedOfControllers, type AskedOfControllers } from "./asked.ts";
import { createStandIn, type StandIn, type StandInInput } from "./stand-in.ts";
import { createWorkers, type WorkersInput } from "./workers.ts";

/** What belongs to backups in one world: a store with somebody else's objects in it, workers, and who sends them. */
export interface Backups {
  /** Who sends workers where no controller does. */
  readonly standIn: StandIn | undefined;
  /** What controllers decide about. */
  readonly asked: AskedOfControllers | undefined;
  /** Changes, replaces or takes away a part of a backup that is there. @returns what was done; `undefined` while there is none */
  tamper(random: RandomSource): string | undefined;
  /** While set, the store keeps one byte of each upload wrong. */
  garble(isGarbling: boolean): void;
  /** @param pass lets time pass */
  judge(pass: (ms: number) => Promise<void>): Promise<void>;
  stop(): void;
}

/** Objects of the published operator and of people, some of them right beside ours. */
const FOREIGN: readonly string[] = [
  "talos-operator-etcd-backups/first/2026-01-01.db",
  "backups/README.md",
  "backups/default/first-notes.txt",
  "backups/default/second-0123456789ab/20260101T000000Z-nightly.json",
];

/** A day and a little: what is open by then has no owner. */
const LATER_MS = 25 * 3_600_000;

export interface BackupsInput extends Omit<WorkersInput, "store" | "rules" | "storeClock">, Pick<StandInInput, "client"> {
  /** Given where controllers decide about backups. */
  readonly objects: ObjectView | undefined;
}

/** Most buckets keep nothing; some have versions, and some lock what is in them: all of it, or the data alone, for a while or for longer than a life. */
function keepingOf(random: RandomSource): Keeping {
  const chance = random.fraction();
  if (chance < 0.6) return { kind: "nothing" };
  if (chance < 0.8) return { kind: "versions" };
  const isData = random.fraction() < 0.5;
  return {
    kind: "lock",
    forMs: pick([5 * 60_000, 30 * 60_000, 100 * LATER_MS], random),
    isLocked: (key) => !isData || !key.endsWith(".json"),
  };
}

export function createBackups(input: BackupsInput): Backups {
  const { clock, report, objects } = input;
  let aheadMs = 0;
  const storeClock = { now: () => clock.now() + aheadMs };
  const ignoresConditions = input.stream(11).fraction() < 0.2;
  const keeping = keepingOf(input.stream(15));
  if (keeping.kind !== "nothing") input.trace.add(`the bucket keeps what is removed: ${keeping.kind}`);
  const store = createMemoryObjectStore(storeClock, { ignoresConditions, keeping });
  const foreign = new Map(FOREIGN.map((key) => [key, Buffer.from(`somebody else's ${key}`)]));
  for (const [key, bytes] of foreign) store.plant(key, bytes);
  const rules = createBackupRules({
    store,
    report,
    now: () => storeClock.now(),
    inspectText: input.secrets.inspectText,
    honoursConditions: !ignoresConditions,
  });
  const workers = createWorkers({ ...input, store, rules, storeClock });
  const provesBlind = input.stream(11).fraction() < 0.5;
  const standIn = objects === undefined ? createStandIn({ ...input, workers, rules, provesBlind }) : undefined;
  const asked = objects === undefined ? undefined : createAskedOfControllers({ ...input, objects, workers, rules });
  return {
    standIn,
    asked,
    tamper(random) {
      const there = (standIn?.backups() ?? asked?.backups() ?? []).filter(({ facts, isTampered }) => facts !== undefined && !isTampered);
      if (there.length === 0) return undefined;
      const { slot, facts } = pick(there, random);
      if (facts === undefined) return undefined;
      const data = Buffer.from(store.contents().get(facts.object) ?? "");
      standIn?.tampered(slot);
      asked?.tampered(slot);
      switch (pick(["byte", "cut", "gone", "manifest"], random)) {
        case "manifest": {
          const [key = "", bytes = Buffer.of()] = [...store.contents()].find(([one]) => one.endsWith(`/${slot}.json`)) ?? [];
          store.plant(key, Buffer.from(Buffer.from(bytes).toString("utf8").replace('"machine":"', '"machine":"not-')));
          return `the manifest ${key}`;
        }
        case "byte": {
          const at = Math.floor(random.fraction() * data.length);
          data.writeUInt8(data.readUInt8(at) ^ 1, at);
          store.plant(facts.object, data);
          return `a byte of ${facts.object}`;
        }
        case "cut":
          store.plant(facts.object, data.subarray(0, -1));
          return `the end of ${facts.object}`;
        default:
          store.lose(facts.object);
          return `all of ${facts.object}`;
      }
    },
    garble(isGarbling) {
      store.garbles = isGarbling;
    },
    async judge(pass) {
      await standIn?.judge();
      await asked?.judge();
      rules.judgeForeign(foreign);
      if (store.uploads().length === 0 || standIn === undefined) return;
      // The run of the next day takes away what the runs of this one left.
      const { endedAt } = workers;
      aheadMs = LATER_MS;
      const { slot } = standIn.take("a-day-later");
      standIn.takeAsSuccessor(slot);
      for (let minutes = 0; minutes < 60 && !standIn.isIdle(); minutes += 1) await pass(60_000);
      rules.judgeRest(endedAt);
    },
    stop: () => workers.stop(),
  };
}
