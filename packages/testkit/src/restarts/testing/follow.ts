import assert from "node:assert/strict";
import { systemRandom, systemTimers } from "@talos-operator/adapters";
import { HANGS_AFTER_MS } from "@talos-operator/adapters/testing";
import { createInformer, createKubeClient, type KubeClient, type KubeObject } from "@talos-operator/kube-runtime";
import { configMapType } from "../../world/kinds.ts";
import type { KubeTransport } from "@talos-operator/ports";

const namespace = "default";
const patience = { timeoutMs: HANGS_AFTER_MS };

/** What is tried on a server that goes away and comes back. */
export interface Followed {
  /** Creates, changes and deletes a few objects; the server must be there. Over a connection of its own unless one is given. */
  write(round: number, over?: KubeTransport): Promise<void>;
  /** Waits until both informers have seen everything written. */
  caughtUp(): Promise<void>;
  /** Both caches equal the store, and every change that was not overtaken was told, once. */
  check(): Promise<void>;
  /** Lists since the start, by informer. */
  lists(): readonly number[];
  stop(): Promise<void>;
}

/** Two informers, one that streams its lists and one that reads pages, on connections of their own, and a writer beside them. */
export async function followBesideWriter(connect: () => KubeTransport): Promise<Followed> {
  const transports: KubeTransport[] = [];
  const client = () => {
    const transport = connect();
    transports.push(transport);
    return createKubeClient(transport, { timers: systemTimers, random: systemRandom });
  };
  const mapsOf = (of: KubeClient) => of.resource<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(configMapType);
  const own = mapsOf(client());
  const abort = new AbortController();
  const followers = (["stream", "pages"] as const).map((listBy) => {
    const informer = createInformer({
      client: client(),
      type: configMapType,
      namespace,
      timers: systemTimers,
      random: systemRandom,
      listBy,
      pageSize: 20,
    });
    const there = new Map<string, string>();
    const wrong: string[] = [];
    const told = new Set<string>();
    informer.subscribe((delta) => {
      const { name = "", resourceVersion = "" } = delta.object.metadata ?? {};
      const line = `${delta.type} ${name}@${resourceVersion}`;
      if (told.has(line)) wrong.push(`${line} was told twice`);
      told.add(line);
      if ((delta.type === "added") === there.has(name)) wrong.push(`${line} does not follow from what was told before`);
      if (delta.type === "deleted") there.delete(name);
      else there.set(name, resourceVersion);
    });
    return { informer, running: informer.run(abort.signal), there, wrong };
  });
  await Promise.all(followers.map(({ informer }) => informer.waitForSync(patience)));
  let lastVersion = "0";

  return {
    async write(round, over) {
      const maps = over === undefined ? own : mapsOf(createKubeClient(over));
      // A read finds out that the connection of before is gone; a create would only learn that nobody knows what became of it.
      await maps.listPage({ namespace, limit: 1 });
      const name = (what: string, of = round): string => `${what}-${of}`;
      await maps.create({ metadata: { namespace, name: name("stays") }, data: { round: "0" } });
      await maps.create({ metadata: { namespace, name: name("goes") } });
      await maps.update({ metadata: { namespace, name: name("stays") }, data: { round: String(round) } });
      if (round > 0) await maps.delete({ namespace, name: name("goes", round - 1) });
      const last = await maps.create({ metadata: { namespace, name: name("last") } });
      lastVersion = last.metadata?.resourceVersion ?? "";
    },
    async caughtUp() {
      await Promise.all(followers.map(({ informer }) => informer.waitForResourceVersion(lastVersion, patience)));
    },
    async check() {
      const versions = (objects: readonly KubeObject[]): readonly string[] =>
        objects.map(({ metadata }) => `${metadata?.name ?? ""} ${metadata?.resourceVersion ?? ""}`).toSorted();
      const want = versions((await own.list({ namespace })).items);
      for (const { informer, there, wrong } of followers) {
        assert.deepEqual(wrong, []);
        assert.deepEqual(versions(informer.store.list()), want);
        assert.deepEqual([...there].map(([name, version]) => `${name} ${version}`).toSorted(), want);
      }
    },
    lists: () => followers.map(({ informer }) => informer.status().lists),
    async stop() {
      abort.abort();
      await Promise.all(followers.map(({ running }) => running));
      for (const transport of transports) transport.close();
    },
  };
}
