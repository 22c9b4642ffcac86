import assert from "node:assert/strict";
import { test } from "node:test";
import { builtInCatalogue } from "@talos-operator/talos";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { createReleases, RELEASES_KEY } from "./releases.ts";
import type { Releases } from "./releases.ts";

const place = { namespace: "system", name: "talos-operator-releases" };

interface Served {
  readonly releases: Releases;
  /** What the ConfigMap says from now on; `undefined` = there is none; an error is what the API answers. */
  serve(data: Readonly<Record<string, string>> | undefined | Error): void;
  pass(ms: number): void;
  readonly reads: () => number;
  readonly warned: readonly string[];
}

function served(where: typeof place | "nowhere" = place): Served {
  let now = 1_000_000;
  let reads = 0;
  let version = 0;
  let answer: Readonly<Record<string, string>> | undefined | Error;
  const warned: string[] = [];
  const client = {
    resource: () => ({
      async tryGet(key: unknown) {
        await Promise.resolve();
        assert.deepEqual(key, place);
        reads += 1;
        if (answer instanceof Error) throw answer;
        return answer === undefined ? undefined : { metadata: { resourceVersion: String(version) }, data: answer };
      },
    }),
  } as unknown as KubeClient;
  const log = {
    debug() {},
    info() {},
    error() {},
    warn: (facts: { problem?: string }) => warned.push(facts.problem ?? ""),
    child: () => log,
  };
  const releases = createReleases(client, { now: () => now }, log, where === "nowhere" ? undefined : where);
  return {
    releases,
    serve(data) {
      answer = data;
      version += 1;
    },
    pass: (ms) => (now += ms),
    reads: () => reads,
    warned,
  };
}

const newest = async ({ releases }: Served): Promise<string | undefined> => (await releases.read()).catalogue.talos.get(13)?.newest;
const own = builtInCatalogue.talos.get(13)?.newest;

test("releases are the built-in ones without a ConfigMap, and nobody asks for one that is not named", async () => {
  const absent = served();
  assert.deepEqual([await newest(absent), (await absent.releases.read()).problem, absent.warned], [own, undefined, []]);
  const nowhere = served("nowhere");
  nowhere.serve({ [RELEASES_KEY]: "talos: [{ release: v1.13.40 }]" });
  assert.deepEqual([await newest(nowhere), nowhere.reads()], [own, 0]);
});

test("releases of a ConfigMap are read once a minute, for all who ask", async () => {
  const world = served();
  world.serve({ [RELEASES_KEY]: "talos: [{ release: v1.13.40 }]" });
  assert.deepEqual(await Promise.all([newest(world), newest(world)]), ["1.13.40", "1.13.40"]);
  const { catalogue } = await world.releases.read();
  assert.equal(world.reads(), 1);
  world.pass(61_000);
  assert.equal((await world.releases.read()).catalogue, catalogue, "it did not change, and is not parsed again");
  assert.equal(world.reads(), 2);
  world.serve({ [RELEASES_KEY]: "talos: [{ release: v1.13.41 }]" });
  world.pass(61_000);
  assert.equal(await newest(world), "1.13.41");
  world.serve(undefined);
  world.pass(61_000);
  assert.equal(await newest(world), own);
});

test("a ConfigMap that cannot be used says why, once in the log, and the built-in releases count", async () => {
  for (const [data, words] of [
    [{}, /ConfigMap system\/talos-operator-releases has no key releases\.yaml: the releases that are built in count/],
    [{ [RELEASES_KEY]: "x".repeat(70_000) }, /holds more than 64 KiB/],
    [{ [RELEASES_KEY]: "talos: [{ release: latest }]" }, /is not understood \(.*line 1: "latest" is no version, such as v1\.13\.9.*\)/],
    [{ [RELEASES_KEY]: "talos: [{ release: v1.13.9, etcd: v3.1 }]" }, /what goes with it cannot be changed/],
    [{ [RELEASES_KEY]: "talos:\n  - \u0001{" }, /is not understood/],
    [{ [RELEASES_KEY]: `talos: [{ release: ${JSON.stringify("v".repeat(10_000))} }]` }, /is not understood/],
  ] as const) {
    const world = served();
    world.serve(data);
    const { problem = "" } = await world.releases.read();
    assert.match(problem, words);
    assert.ok(problem.length < 600 && /^[\x20-\x7e]*$/.test(problem), problem);
    world.pass(61_000);
    assert.deepEqual([await newest(world), world.warned.length], [own, 1]);
  }
});

test("an API that does not answer leaves what was read last, and says so where nothing was", async () => {
  const world = served();
  world.serve({ [RELEASES_KEY]: "talos: [{ release: v1.13.40 }]" });
  await world.releases.read();
  world.serve(new Error("gone"));
  world.pass(61_000);
  assert.equal(await newest(world), "1.13.40");
  const fresh = served();
  fresh.serve(new Error("gone"));
  assert.match((await fresh.releases.read()).problem ?? "", /cannot be read now: the releases that are built in count/);
  fresh.serve({ [RELEASES_KEY]: "talos: [{ release: v1.13.40 }]" });
  fresh.pass(61_000);
  assert.deepEqual([await newest(fresh), (await fresh.releases.read()).problem], ["1.13.40", undefined]);
});
