import { annotations, clusterRecordResource, talosControlPlaneResource, type ClusterRecord } from "@talos-operator/api";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import type { Keys, RandomSource, Timers } from "@talos-operator/ports";
import type { Datacenter, SimulatedMachine } from "@talos-operator/simulator";
import { parseSecretsBundle } from "@talos-operator/talos";
import { createTalosClient } from "@talos-operator/talos/client";
import type { EffectId } from "./effects.ts";
import { pick } from "./fault.ts";
import { addressesOf, CLUSTER_NAME, manifestOf, NAMESPACE, type Scenario } from "./scenario.ts";
import type { Stage } from "./stage.ts";

const secretType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true } as const;

type Secret = KubeObject & { readonly data?: Readonly<Record<string, string>>; readonly type?: string; readonly immutable?: boolean };

/** What the world does to a cluster in one run, beside the crashes: at most one of these. */
export type TroubleKind =
  /** Somebody takes the finalizer off the bundle Secret and deletes it; minutes later it is put back from a backup. */
  | "bundle-lost"
  /** As before, and in between there is a Secret with other keys. */
  | "bundle-changed"
  /** Record and bundle of a cluster that runs are deleted, and put back later. */
  | "all-lost"
  /** Record and bundle are deleted when the first machines have their configuration and etcd is not founded, and put back later. */
  | "lost-before-founding"
  /** The record is deleted while the machine that founded etcd is out of sight. */
  | "record-lost"
  /** A machine is cut off the network for a while. */
  | "machine-cut-off"
  /** The operator's process stands still for longer than its lease; another takes over; then the first one goes on. */
  | "operator-paused"
  /** As before, between its last check and the send of the record: what it writes then is old. */
  | "paused-before-record"
  /** As before, between its last check and the send of something else. */
  | "paused-before-send"
  /** The lease is deleted and taken by another operator; the first has not noticed yet. */
  | "lease-taken"
  /** As "operator-paused", and a machine loses what it had in memory meanwhile. */
  | "paused-and-rebooted"
  /** As "operator-paused", and meanwhile a person founds etcd on another machine than the recorded one. */
  | "founded-by-hand"
  /** Right before the call to found etcd is sent, a person founds it on another machine, and that one's address goes to a machine that waits. */
  | "founded-and-replaced"
  /** Two operators run from the start. */
  | "two-operators"
  /** A machine loses its power while it waits for its configuration. A person confirms it if it was written down already. */
  | "rebooted-waiting"
  /** The machine that was asked to found etcd loses its power before its etcd starts. */
  | "rebooted-founding"
  /** Reads of record and bundle are answered with 404 or 500 though they are there. */
  | "lying-reads"
  /** Watches stand still for a while. */
  | "stale-watches"
  /** Another cluster object names the same machines. */
  | "second-cluster"
  /** Somebody else's Secrets have the names of the bundle or of the kubeconfig. */
  | "names-taken"
  /** A person pauses the cluster for a while. */
  | "paused-by-person"
  /** The operator's clock is an hour wrong, or six: for a while, or from then on. */
  | "clock-jump";

export const TROUBLES: readonly TroubleKind[] = [
  "bundle-lost",
  "machine-cut-off",
  "operator-paused",
  "two-operators",
  "lying-reads",
  "rebooted-waiting",
  "rebooted-founding",
  "stale-watches",
  "second-cluster",
  "bundle-changed",
  "record-lost",
  "names-taken",
  "paused-by-person",
  "paused-and-rebooted",
  "founded-by-hand",
  "all-lost",
  "clock-jump",
  "lost-before-founding",
  "founded-and-replaced",
  "paused-before-record",
  "paused-before-send",
  "lease-taken",
];

/** Those that can befall a cluster that is Ready, whatever is done to it. */
export const EDIT_TROUBLES: readonly TroubleKind[] = [
  "machine-cut-off",
  "operator-paused",
  "two-operators",
  "lying-reads",
  "stale-watches",
  "paused-before-record",
  "clock-jump",
  "paused-before-send",
  "lease-taken",
];

export interface TroubleInput {
  readonly kind: TroubleKind;
  readonly random: RandomSource;
  readonly timers: Timers;
  readonly now: () => number;
  /** Latest begin of what comes at any time. Milliseconds, counted from the apply or the first edit. */
  readonly latestMs: number;
  /** Past every fault. */
  readonly client: KubeClient;
  readonly datacenter: Datacenter;
  readonly scenario: Scenario;
  readonly stage: Stage;
  readonly keys: Keys;
  readonly pauseOperator: (ms: number) => void;
  /** Calls `act` between the last check before the `n`-th send of the effect and the send itself. */
  readonly beforeSend: (effect: EffectId, n: number, act: () => void) => void;
  /** Stands still until the returned function is called, which must be before the lease ends. */
  readonly holdOperator: () => () => void;
  readonly startOperator: () => void;
  readonly setClock: (skewMs: number) => void;
  /** Resolves when the effect took place for the `n`-th time, before the sender hears of it. */
  readonly tookEffect: (effect: EffectId, n: number) => Promise<void>;
  readonly trace: (line: string) => void;
}

/** Earliest begin, counted from the apply or the first edit. */
const EARLIEST_MS = 2_000;

/** Lets the trouble happen. Resolves when everything is as it was before. */
export async function makeTrouble(input: TroubleInput): Promise<void> {
  const { kind, random, timers, trace, stage } = input;
  const lastsMs = 20_000 + Math.floor(random.fraction() * 180_000);
  const begin = async (latestMs = input.latestMs): Promise<void> => {
    await timers.sleep(EARLIEST_MS + Math.floor(random.fraction() * (Math.min(latestMs, input.latestMs) - EARLIEST_MS)));
    trace(`trouble ${kind} for ${lastsMs} ms`);
  };
  switch (kind) {
    case "bundle-lost":
    case "bundle-changed":
      await begin();
      await loseBundle(input, lastsMs);
      break;
    case "all-lost":
      await loseAll(input, lastsMs);
      break;
    case "lost-before-founding":
      await input.tookEffect("T2", 1 + Math.floor(random.fraction() * 2));
      await timers.sleep(Math.floor(random.fraction() * 3_000));
      await loseBoth(input, lastsMs);
      break;
    case "record-lost":
      await loseRecord(input, lastsMs);
      break;
    case "machine-cut-off":
      await begin();
      await cutOff(input, pick(machinesOf(input), random), lastsMs);
      break;
    case "operator-paused":
      // What an operator does next after it wrote down an intent is what a pause must not let it do late.
      await input.tookEffect("K2", 1 + Math.floor(random.fraction() * 4));
      trace(`trouble ${kind} for ${lastsMs} ms`);
      input.pauseOperator(lastsMs);
      await timers.sleep(lastsMs);
      break;
    case "paused-before-record":
    case "paused-before-send": {
      const effect = kind === "paused-before-record" ? "K2" : pick(["K1", "K4", "K5", "T2", "T4"] as const, random);
      await new Promise<void>((resolve) => {
        input.beforeSend(effect, 1 + Math.floor(random.fraction() * (effect === "K2" ? 5 : 2)), () => {
          trace(`trouble ${kind} at ${effect} for ${lastsMs} ms`);
          input.pauseOperator(lastsMs);
          resolve();
        });
      });
      await timers.sleep(lastsMs);
      break;
    }
    case "lease-taken":
      input.startOperator();
      await takeLease(input);
      break;
    case "paused-and-rebooted":
      await pauseAndReboot(input, 60_000 + lastsMs);
      break;
    case "founded-by-hand":
      await foundByHand(input, lastsMs);
      break;
    case "founded-and-replaced":
      await foundAndReplace(input, lastsMs);
      break;
    case "two-operators":
      input.startOperator();
      break;
    case "rebooted-waiting": {
      await begin(60_000);
      const machine = pick(machinesOf(input), random);
      machine.powerCycle();
      await confirmMachine(input, machine);
      break;
    }
    case "rebooted-founding": {
      await input.tookEffect("T4", 1);
      await timers.sleep(Math.floor(random.fraction() * 1_500));
      const target = (await readRecord(input))?.spec.bootstrap?.intent?.machine.address;
      trace(`trouble ${kind} ${target ?? "nobody"}`);
      if (target !== undefined) input.datacenter.machine(target).powerCycle();
      break;
    }
    case "lying-reads":
      for (let n = 0; n < 6; n += 1) {
        await timers.sleep(Math.floor(random.fraction() * 40_000));
        const path = pick([`/secrets/${CLUSTER_NAME}-bundle-1`, `/clusterrecords/${CLUSTER_NAME}`], random);
        const status = pick([404, 500], random);
        trace(`trouble ${kind} ${status} for ${path}`);
        stage.answerReads(path, status, 1);
      }
      break;
    case "stale-watches":
      await begin();
      stage.freezeWatches();
      await timers.sleep(lastsMs);
      stage.resumeWatches();
      break;
    case "second-cluster":
      await begin(60_000);
      await nameMachinesTwice(input);
      break;
    case "names-taken":
      await takeName(input, lastsMs);
      break;
    case "paused-by-person":
      await begin();
      await pauseCluster(input, lastsMs);
      break;
    case "clock-jump":
      await jumpClock(input, lastsMs);
      break;
  }
  trace(`trouble ${kind} is over`);
}

function machinesOf({ scenario, datacenter }: TroubleInput): readonly SimulatedMachine[] {
  const { controlPlanes, workers } = addressesOf(scenario);
  return [...controlPlanes, ...workers].map((address) => datacenter.machine(address));
}

const ofCluster = { namespace: NAMESPACE, name: CLUSTER_NAME } as const;
const bundleKey = { namespace: NAMESPACE, name: `${CLUSTER_NAME}-bundle-1` } as const;

async function readRecord({ client }: TroubleInput): Promise<ClusterRecord | undefined> {
  return (await client.resource(clusterRecordResource).tryGet(ofCluster)) as ClusterRecord | undefined;
}

async function recordThat(input: TroubleInput, holds: (record: ClusterRecord) => boolean): Promise<ClusterRecord> {
  for (;;) {
    const record = await readRecord(input);
    if (record !== undefined && holds(record)) return record;
    await input.timers.sleep(1000);
  }
}

async function cutOff({ timers }: TroubleInput, machine: SimulatedMachine, lastsMs: number): Promise<void> {
  machine.setConnected(false);
  await timers.sleep(lastsMs);
  machine.setConnected(true);
}

async function loseBundle(input: TroubleInput, lastsMs: number): Promise<void> {
  const { client, timers, trace, stage, kind, now } = input;
  const secrets = client.resource<Secret>(secretType);
  // Before the record names them, keys have reached no machine, and may be made anew.
  await recordThat(input, () => true);
  const bundle = await secrets.tryGet(bundleKey);
  if (bundle === undefined) return;
  await takeAway(input, "Secret");
  // A read of the record that fails at the same time must not make the cluster a new one.
  stage.answerReads(`/clusterrecords/${CLUSTER_NAME}`, 404, 1);
  if (kind === "bundle-changed") {
    const { bundle: text = "" } = bundle.data ?? {};
    const changed = Buffer.from(text, "base64")
      .toString("utf8")
      .replace(/id: .*/, `id: ${Buffer.alloc(32, 7).toString("base64")}`);
    await secrets.create({
      ...bundle,
      metadata: { ...bundleKey, labels: bundle.metadata?.labels ?? {} },
      data: { bundle: Buffer.from(changed).toString("base64") },
    });
    stage.bundleGoneSince = now();
    await timers.sleep(lastsMs);
    await secrets.delete(bundleKey);
  } else await timers.sleep(lastsMs);
  // A product that made new keys meanwhile has broken its promise; restoring over them would hide it.
  if ((await secrets.tryGet(bundleKey)) === undefined) await putBack(input, bundle);
  else trace("the bundle was made anew by the operator");
  stage.bundleGoneSince = undefined;
}

async function takeAway({ client, stage, now }: TroubleInput, kind: "Secret" | "ClusterRecord"): Promise<void> {
  const key = kind === "Secret" ? bundleKey : ofCluster;
  const objects = client.resource(kind === "Secret" ? secretType : clusterRecordResource);
  await objects.patch(key, { type: "merge", value: { metadata: { finalizers: null } } });
  await objects.delete(key);
  if (kind === "Secret") stage.bundleGoneSince = now();
}

async function putBack({ client }: TroubleInput, object: KubeObject): Promise<void> {
  const { name = "", labels = {}, finalizers = [] } = object.metadata ?? {};
  const type = object.kind === "ClusterRecord" ? clusterRecordResource : secretType;
  const restored = { ...object, metadata: { namespace: NAMESPACE, name, labels, finalizers } };
  // What was made there meanwhile gives way to the backup.
  const there = await client.resource(type).tryGet({ namespace: NAMESPACE, name });
  if (there === undefined) await client.resource(type).create(restored);
  else
    await client
      .resource(type)
      .update({ ...restored, metadata: { ...restored.metadata, resourceVersion: there.metadata?.resourceVersion ?? "" } });
}

async function loseAll(input: TroubleInput, lastsMs: number): Promise<void> {
  const controlPlanes = input.client.resource<Conditioned>(talosControlPlaneResource);
  for (;;) {
    const conditions = (await controlPlanes.tryGet(ofCluster))?.status?.conditions ?? [];
    if (conditions.some((one) => one.type === "Bootstrapped" && one.status === "True")) break;
    await input.timers.sleep(1000);
  }
  await loseBoth(input, lastsMs);
}

async function loseBoth(input: TroubleInput, lastsMs: number): Promise<void> {
  const { client, timers, trace, stage, kind } = input;
  const record = await recordThat(input, () => true);
  const bundle = await client.resource<Secret>(secretType).get(bundleKey);
  trace(`trouble ${kind} for ${lastsMs} ms`);
  await takeAway(input, "Secret");
  await takeAway(input, "ClusterRecord");
  await timers.sleep(lastsMs);
  if ((await client.resource<Secret>(secretType).tryGet(bundleKey)) === undefined) {
    await putBack(input, record);
    await putBack(input, bundle);
  }
  stage.bundleGoneSince = undefined;
}

/** Right after etcd was founded, before the others joined. */
async function loseRecord(input: TroubleInput, lastsMs: number): Promise<void> {
  const { datacenter, timers, trace, stage, scenario } = input;
  const founded = (): SimulatedMachine | undefined =>
    addressesOf(scenario)
      .controlPlanes.map((address) => datacenter.machine(address))
      .find(({ state }) => state.etcd.data !== undefined);
  while (founded() === undefined) await timers.sleep(100);
  const founder = founded();
  trace(`trouble record-lost for ${lastsMs} ms`);
  stage.isRecordLost = true;
  founder?.setConnected(false);
  await takeAway(input, "ClusterRecord");
  await timers.sleep(lastsMs);
  founder?.setConnected(true);
}

type Conditioned = KubeObject & {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

/** Stops an operator between its pin and its send, lets the machine come back with another key, and lets the operator go on. */
async function pauseAndReboot(input: TroubleInput, lastsMs: number): Promise<void> {
  const { timers, trace, random } = input;
  await input.tookEffect("K2", 1 + Math.floor(random.fraction() * 2));
  const record = await recordThat(input, () => true);
  const pinned = new Set([...(record.spec.knownControlPlanes ?? []), ...(record.spec.knownWorkers ?? [])].map(({ address }) => address));
  const waiting = machinesOf(input).filter(({ address, state }) => pinned.has(address) && state.config.active === undefined);
  trace(`trouble paused-and-rebooted for ${lastsMs} ms, ${waiting.length} machines`);
  input.pauseOperator(lastsMs);
  const machine = waiting[0];
  machine?.powerCycle();
  await timers.sleep(lastsMs);
  if (machine !== undefined) await confirmMachine(input, machine);
}

/** A person looks at a machine that the operator stopped at, and allows it. */
async function confirmMachine(input: TroubleInput, machine: SimulatedMachine): Promise<void> {
  const { client, timers, trace, stage } = input;
  const { address } = machine;
  stage.mayRepeat += 1;
  for (let n = 0; n < 40 && machine.state.config.active === undefined; n += 1) {
    await timers.sleep(15_000);
    const record = await readRecord(input);
    const all = [...(record?.spec.knownControlPlanes ?? []), ...(record?.spec.knownWorkers ?? [])];
    const known = all.find((one) => one.address === address);
    if (known === undefined || machine.state.stage !== "maintenance" || stage.approved.has(address)) continue;
    // Not before the operator had the time to do the wrong thing.
    if (n < 4) continue;
    trace(`a person allows ${address}`);
    stage.approved.add(address);
    const { uuid } = machine.state.hardware;
    // A UUID that others show too would name several machines.
    const isShared = input.scenario.uuids === "vendor" || all.some((other) => other.name !== known.name && other.uuid === uuid);
    await client.resource(talosControlPlaneResource).patch(ofCluster, {
      type: "merge",
      value: { metadata: { annotations: { [annotations.approveReprovision]: isShared ? known.name : uuid } } },
    });
  }
}

async function foundByHand(input: TroubleInput, lastsMs: number): Promise<void> {
  const { timers, trace } = input;
  const other = await anotherThanTheTarget(input);
  input.pauseOperator(lastsMs);
  trace(`trouble founded-by-hand on ${other ?? "nobody"} for ${lastsMs} ms`);
  if (other !== undefined) await found(input, other);
  await timers.sleep(lastsMs);
}

/** A machine that waits in maintenance mode, and has nothing to do with the cluster. */
const STRANGER = "10.5.0.250";

async function foundAndReplace(input: TroubleInput, lastsMs: number): Promise<void> {
  const { timers, trace, stage, datacenter } = input;
  datacenter.addMachine({ address: STRANGER, talosVersion: input.scenario.talosVersion });
  const other = await anotherThanTheTarget(input);
  const goOn = input.holdOperator();
  trace(`trouble founded-and-replaced: ${other ?? "nobody"} for ${lastsMs} ms`);
  if (other !== undefined) {
    await found(input, other);
    stage.routes.set(other, STRANGER);
  }
  goOn();
  await timers.sleep(lastsMs);
  stage.routes.clear();
}

/** Resolves when the intent to found etcd was written, the last thing before the call, with a control plane that waits for etcd and is not the target. */
async function anotherThanTheTarget(input: TroubleInput): Promise<string | undefined> {
  let record: ClusterRecord | undefined;
  for (let n = 1; record?.spec.bootstrap?.intent === undefined; n += 1) {
    await input.tookEffect("K2", n);
    record = await readRecord(input);
  }
  const target = record.spec.bootstrap.intent.machine.address;
  const waits = (address: string): boolean => input.datacenter.machine(address).state.services["etcd"]?.state === "Preparing";
  return addressesOf(input.scenario).controlPlanes.find((address) => address !== target && waits(address));
}

async function found({ client, datacenter, keys, now }: TroubleInput, address: string): Promise<void> {
  const bundle = (await client.resource<Secret>(secretType).get(bundleKey)).data?.["bundle"];
  if (bundle === undefined) return;
  const { os } = parseSecretsBundle(Buffer.from(bundle, "base64").toString("utf8")).certs;
  const signed = await keys.signCertificate(os, {
    usage: "client",
    organizations: ["os:admin"],
    notBefore: now() - 1000,
    lifetimeMs: 600_000,
  });
  const talos = createTalosClient(datacenter.dialer().dial({ address }, { kind: "mutual", ca: os.certificate, ...signed }));
  await talos.bootstrap({ timeoutMs: 5_000 });
  talos.close();
}

async function nameMachinesTwice({ client, scenario, timers }: TroubleInput): Promise<void> {
  const [object] = manifestOf({ ...scenario, shape: "pools", workers: 0 });
  if (object === undefined) return;
  const controlPlanes = client.resource(talosControlPlaneResource);
  // The machines belong to whoever was there first, and that is to be the cluster of the story.
  while ((await controlPlanes.tryGet(ofCluster)) === undefined) await timers.sleep(1000);
  // Creation times have whole seconds.
  await timers.sleep(1000);
  await controlPlanes.create({
    ...object.body,
    metadata: { namespace: NAMESPACE, name: "second" },
  });
  await timers.sleep(60_000);
}

async function takeName({ client, timers, random, trace, now }: TroubleInput, lastsMs: number): Promise<void> {
  const name = pick([bundleKey.name, `${CLUSTER_NAME}-kubeconfig`], random);
  const secrets = client.resource<Secret>(secretType);
  const key = { namespace: NAMESPACE, name };
  const data = { note: Buffer.from("of somebody else").toString("base64") };
  trace(`trouble names-taken: ${name} for ${lastsMs} ms`);
  await secrets.create({ apiVersion: "v1", kind: "Secret", metadata: key, type: "Opaque", data });
  const until = now() + (name === bundleKey.name ? lastsMs : 300_000 + lastsMs);
  while (now() < until) {
    await timers.sleep(5_000);
    if (JSON.stringify((await secrets.tryGet(key))?.data) !== JSON.stringify(data)) throw new Error(`the operator changed ${name}`);
  }
  await secrets.delete(key);
}

const leaseType = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease", namespaced: true } as const;

async function takeLease({ client, timers, trace, random, tookEffect, holdOperator }: TroubleInput): Promise<void> {
  // After the record says what is to be sent comes the send.
  await tookEffect("K2", 1 + Math.floor(random.fraction() * 4));
  const goOn = holdOperator();
  const leases = client.resource<KubeObject & { readonly spec?: { readonly holderIdentity?: string } }>(leaseType);
  const { items } = await leases.list();
  const before = items[0]?.spec?.holderIdentity;
  const { name = "", namespace } = items[0]?.metadata ?? {};
  await leases.delete({ name, namespace });
  // The one that is held has its lease for ten seconds by its own count.
  for (let n = 0; n < 50; n += 1) {
    await timers.sleep(100);
    const holder = (await leases.tryGet({ name, namespace }))?.spec?.holderIdentity;
    if (holder !== undefined && holder !== before) break;
  }
  trace("trouble lease-taken");
  goOn();
}

/** An operator that is ahead works with it; one that is behind cannot tell machines' certificates from such of the future until somebody sets its clock. */
async function jumpClock({ random, timers, trace, setClock, tookEffect }: TroubleInput, lastsMs: number): Promise<void> {
  const skewMs = pick([-6, -1, 1, 6], random) * 3_600_000;
  const stays = skewMs > 0 && random.fraction() < 0.5;
  const effect = pick(["start", "K1", "K2", "T2", "T4"] as const, random);
  if (effect !== "start") await tookEffect(effect, 1);
  trace(`trouble clock-jump by ${skewMs} ms ${stays ? "for ever" : `for ${lastsMs} ms`}`);
  setClock(skewMs);
  await timers.sleep(lastsMs);
  if (!stays) setClock(0);
}

async function pauseCluster({ client, timers, stage, now, scenario }: TroubleInput, lastsMs: number): Promise<void> {
  const type =
    scenario.shape === "cluster"
      ? { ...talosControlPlaneResource, kind: "TalosCluster", plural: "talosclusters" }
      : talosControlPlaneResource;
  const objects = client.resource(type);
  await objects.patch(ofCluster, { type: "merge", value: { metadata: { annotations: { [annotations.reconcileMode]: "disable" } } } });
  stage.pausedSince = now();
  await timers.sleep(lastsMs);
  stage.pausedSince = undefined;
  await objects.patch(ofCluster, { type: "merge", value: { metadata: { annotations: { [annotations.reconcileMode]: null } } } });
}
