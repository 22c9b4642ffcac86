import { clusterRecordResource } from "@talos-operator/api";
import type { ClusterRecord, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { decidedPass, machinesOf, observed, printRecord, readRecord, running } from "@talos-operator/operator/testing";
import type { Action, ClusterFacts, DecidedPass, Observed, PassOptions } from "@talos-operator/operator/testing";
import type { TalosCallFailure, TalosDialer } from "@talos-operator/ports";
import { createStory, demoCluster, kinds } from "../stories/story.ts";
import type { Story } from "../stories/story.ts";
import { rerouted } from "../world/rerouted.ts";
import { withCalls } from "../world/with-calls.ts";

/** What a machine answers otherwise than it would: gets the true reply, gives another or fails. */
export interface Lie {
  /** Last part of the path: `EtcdMemberList`. */
  readonly method: string;
  /** Address that is dialled; default every one. */
  readonly address?: string;
  /** Only on connections with or without a certificate. */
  readonly credentials?: "maintenance" | "mutual";
  readonly tell: (reply: never, request: never) => unknown;
}

/** What happens between the decision and the send. */
export interface Meanwhile extends PassOptions {
  /** The record as it is by then. */
  readonly record?: (facts: ClusterFacts) => ClusterFacts;
  readonly lies?: readonly Lie[];
  /** What stands at the first address is the machine of the second. */
  readonly moved?: readonly [string, string];
  /** Machines that do not answer any more. */
  readonly cut?: readonly string[];
  /** Key that is presented, whoever presents it. */
  readonly key?: string;
  readonly prepare?: (pass: DecidedPass) => void;
  /** What the API server tells of an object by then. */
  readonly stored?: (object: KubeObject) => KubeObject;
  /** The record stays as it is by then: what it says cannot be taken back. */
  readonly isForGood?: boolean;
  /** Told of each mutating call. */
  readonly onSend?: (address: string, request: unknown) => void;
}

/** A simulated cluster whose operator was stopped, and on which single effects are carried out. What would change a machine stops right before it. */
export interface EffectWorld {
  readonly story: Story;
  facts(): Promise<ClusterFacts>;
  /** What a pass would see: everything runs, but for what is said. */
  seen(over?: Partial<Parameters<typeof observed>[0]>): Promise<Observed>;
  /**
   * Carries out one action that was decided on the record `before`.
   *
   * @returns mutating calls that were sent: `Reset 10.0.0.1`; the record and the machines are afterwards as they were
   */
  send(
    action: Action | readonly Action[],
    seen: Observed,
    before: (facts: ClusterFacts) => ClusterFacts,
    meanwhile?: Meanwhile,
  ): Promise<readonly string[]>;
  end(): Promise<void>;
}

const changing =
  /\/(Reset|Reboot|Bootstrap|ApplyConfiguration|EtcdRemoveMemberByID|EtcdForfeitLeadership|EtcdLeaveCluster|MetaWrite|MetaDelete|EtcdDefragment|EtcdAlarmDisarm|ServiceRestart|Pull|Upgrade|Rollback)$/;
const key = { namespace: "default", name: "demo" };

function unavailable(): TalosCallFailure {
  return Object.assign(new Error("it goes no further"), { name: "TalosCallFailure" as const, code: 14 });
}

/** Calls that would change a machine are noted and go no further; replies may be other ones. */
function guarded(real: TalosDialer, holds: RegExp, sent: string[], { lies = [], key: shown, onSend }: Meanwhile = {}): TalosDialer {
  return withCalls(real, ({ address, credentials, channel }) => ({
    unary: async (method, request, options) => {
      const name = method.path.slice(method.path.lastIndexOf("/") + 1);
      if (holds.test(method.path)) {
        sent.push(`${name} ${address}`);
        onSend?.(address, request);
        throw unavailable();
      }
      const lie = lies.find(
        (one) => one.method === name && (one.address ?? address) === address && (one.credentials ?? credentials.kind) === credentials.kind,
      );
      const reply = await channel.unary(method, request, options);
      // The machine may give the same reply again.
      return lie === undefined ? reply : (lie.tell(structuredClone(reply) as never, request as never) as typeof reply);
    },
    serverStream: (method, request, options) => {
      const name = method.path.slice(method.path.lastIndexOf("/") + 1);
      if (holds.test(method.path)) {
        sent.push(`${name} ${address}`);
        return failing();
      }
      const lie = lies.find((one) => one.method === name && (one.address ?? address) === address);
      const told = channel.serverStream(method, request, options);
      return lie === undefined ? told : retold(told, lie);
    },
    peerSpki: () => shown ?? channel.peerSpki(),
  }));
}

/** A stream that goes no further. */
// eslint-disable-next-line require-yield
async function* failing(): AsyncIterable<never> {
  await Promise.resolve();
  throw unavailable();
}

/** All messages of a stream, as `tell` makes them. */
async function* retold<T>(told: AsyncIterable<T>, { tell }: Lie): AsyncIterable<T> {
  const messages: T[] = [];
  for await (const message of told) messages.push(message);
  yield* tell(messages as never, undefined as never) as readonly T[];
}

/** A client that is told of objects as `stored` makes them. */
function telling(client: KubeClient, stored: Meanwhile["stored"]): KubeClient {
  if (stored === undefined) return client;
  const { transport } = client;
  return createKubeClient({
    ...transport,
    async send(request, options) {
      const response = await transport.send(request, options);
      return request.method === "GET" && response.status < 400 ? { ...response, body: stored(response.body as KubeObject) } : response;
    },
  });
}

/**
 * Lets an operator make a cluster of three control planes at 10.0.0.1 to 3 and a worker at 10.0.1.1, then stops it.
 *
 * @param until what it stops before: the first configuration, the founding of etcd, or nothing
 */
export async function createEffectWorld(until: "configured" | "founded" | "ready"): Promise<EffectWorld> {
  const held = { configured: /\/ApplyConfiguration$/, founded: /\/Bootstrap$/, ready: /^$/ }[until];
  const addresses = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.1.1"];
  const begun: string[] = [];
  const story = await createStory({
    machines: [...addresses, "10.0.0.9"].map((address) => ({ address })),
    dialer: (real) => guarded(real, held, begun),
  });
  await story.client.resource(kinds.cluster).create(demoCluster(addresses.slice(0, 3), addresses.slice(3)));
  await story.start();
  if (until === "ready") await story.untilReady();
  else await story.until(until, async () => Promise.resolve(begun.length > (until === "configured" ? 3 : 0)));
  await story.stop();

  const records = story.client.resource<ClusterRecord>(clusterRecordResource);
  const facts = async (): Promise<ClusterFacts> => {
    const read = readRecord(await records.get(key));
    if (read === undefined) throw new Error("there is no record");
    return read.facts;
  };
  const write = async (next: ClusterFacts): Promise<void> => {
    // The API server lets no intent turn into another one: it is closed first.
    for (const one of [{ ...next, intents: [] }, next])
      await records.update(printRecord(key, one, await records.get(key), { identity: "one", fencingToken: "1/1" }));
  };
  return {
    story,
    facts,
    async seen(over = {}) {
      const controlPlane = over.controlPlane ?? (await story.client.resource<TalosControlPlane>(kinds.controlPlane).get(key));
      const workers = over.workers ?? (await story.client.resource<TalosWorker>(kinds.worker).list()).items;
      const declared = [...machinesOf(controlPlane), ...workers.flatMap((worker) => machinesOf(worker))];
      const now = story.time.now();
      const looks = Object.fromEntries(declared.map(({ address }) => [address, running(undefined, { at: now })]));
      return observed({ controlPlane, workers, facts: await facts(), now, ...over, looks: { ...looks, ...over.looks } });
    },
    async send(action, seen, before, meanwhile = {}) {
      const known = await facts();
      const sent: string[] = [];
      const routes = new Map(meanwhile.moved === undefined ? [] : [meanwhile.moved]);
      const { clock, timers } = story.time;
      const dialer = guarded(rerouted(story.datacenter.dialer(clock), routes), changing, sent, meanwhile);
      await write(before(known));
      const client = telling(story.client, meanwhile.stored);
      const place = { client, dialer, keys: story.keys, clock, timers, random: createSeededRandom(5) };
      const pass = await decidedPass(place, seen, meanwhile);
      try {
        if (meanwhile.record !== undefined) await write(meanwhile.record(await facts()));
        for (const address of meanwhile.cut ?? []) story.datacenter.machine(address).setConnected(false);
        meanwhile.prepare?.(pass);
        let isDone = false;
        const actions: readonly Action[] = "kind" in action ? [action] : action;
        const done = pass.carryOut(actions).finally(() => {
          isDone = true;
        });
        await story.time.settle();
        await story.time.runUntil(() => isDone, 30_000);
        await done;
      } finally {
        pass.close();
        for (const address of meanwhile.cut ?? []) story.datacenter.machine(address).setConnected(true);
        if (meanwhile.isForGood !== true) await write(known);
      }
      return sent;
    },
    end: () => story.end(),
  };
}
