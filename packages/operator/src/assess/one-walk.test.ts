import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { countCalls } from "../testing/counted-calls.ts";
import type { CountedCalls } from "../testing/counted-calls.ts";
import { LargeCluster } from "../testing/large-cluster.ts";
import type { Decision } from "../model/decision.ts";

const SIZES = [100, 1_000] as const;

/** Calls grow with the machines, and those of a comparison with the logarithm of them beside: of each with each there would be a hundred times as many. */
const MOST_GROWTH = 50;

/** What a pass derives from its observation, and nothing may derive again. */
const derivations = [
  "assess",
  "planConfigs",
  "chooseNext",
  "planMachines",
  "planMembership",
  "quorumOf",
  "idleCordons",
  "leftNodes",
  "formerNames",
  "downIn",
  "keysState",
  "etcdHealth",
  "bootstrapState",
  "waitingOf",
  "waitingOfGoingPools",
];

/** One pass that was counted: what it is called, and what it called. */
interface Counted {
  readonly pass: string;
  readonly calls: readonly CountedCalls[];
}

/** What happens to clusters, and so many passes after it at most. */
const courses: readonly (readonly [string, (cluster: LargeCluster, workers: number) => void, number])[] = [
  ["what is read is learned", () => undefined, 99],
  ["nobody touches it", () => undefined, 1],
  ["half of the workers leave", (cluster, workers) => cluster.unlist(workers / 2), 99],
  ["half of the rest leaves, one by one", (cluster, workers) => cluster.unlist(workers / 4, 1), 3],
  ["as many join", (cluster, workers) => cluster.list(workers / 2), 3],
  ["some fall silent", (cluster, workers) => cluster.silence(workers / 5), 1],
  ["the pool is deleted", (cluster) => cluster.deletePool(), 3],
];

/** Plays all of it on one cluster. */
async function countLife(workers: number): Promise<readonly Counted[]> {
  const cluster = new LargeCluster(workers);
  const counted: Counted[] = [];
  for (const [what, happen, most] of courses) {
    happen(cluster, workers);
    for (let passes = 0; passes < most; passes += 1) {
      const decided: Decision[] = [];
      const calls = await countCalls(async () => decided.push((await cluster.pass()).decision));
      const own = calls.filter(({ file }) => file.startsWith("operator/src/") && !file.includes("/testing/"));
      counted.push({ pass: `${what}: ${decided[0]?.rule}`, calls: own });
      if (decided[0]?.actions.length === 0) break;
    }
  }
  return counted;
}

describe("a pass walks over its observation once", () => {
  const lives = new Map<number, readonly Counted[]>();
  before(async () => {
    for (const size of SIZES) lives.set(size, await countLife(size));
  });

  test("whatever the size of the cluster, its passes are the same", () => {
    const [small, large] = SIZES.map((size) => lives.get(size)?.map(({ pass }) => pass));
    assert.deepEqual(small, large);
    for (const pass of [
      "nobody touches it: waitOrSettle",
      "half of the workers leave: changeMembership",
      "half of the rest leaves, one by one: changeMembership",
      "as many join: configureMachines",
      "the pool is deleted: finishDeletion",
    ])
      assert.ok(small?.includes(pass), pass);
  });

  test("nothing that is derived from it is derived twice", () => {
    for (const { pass, calls } of lives.get(1_000) ?? assert.fail()) {
      const twice = calls.filter((one) => derivations.includes(one.name) && one.calls > 1);
      assert.deepEqual(twice, [], pass);
    }
  });

  test("each of these is derived in some pass", () => {
    const all = new Set(lives.get(1_000)?.flatMap(({ calls }) => calls.map(({ name }) => name)));
    assert.deepEqual(
      derivations.filter((name) => !all.has(name)),
      [],
    );
  });

  test("no function is called for each machine with each machine", () => {
    const keyOf = ({ file, name, at }: CountedCalls): string => `${file} ${name}@${at}`;
    const grown = (lives.get(1_000) ?? assert.fail()).flatMap(({ pass, calls }, index) => {
      const few = new Map(lives.get(100)?.[index]?.calls.map((one) => [keyOf(one), one.calls]));
      return calls
        .filter((one) => one.calls > MOST_GROWTH * Math.max(1, few.get(keyOf(one)) ?? 0))
        .map((one) => `${pass}: ${keyOf(one)}: ${few.get(keyOf(one)) ?? 0} calls, then ${one.calls}`);
    });
    assert.deepEqual(grown, []);
  });
});
