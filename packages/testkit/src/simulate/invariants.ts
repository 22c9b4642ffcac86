import { createHash } from "node:crypto";
import { clusterRecordResource, finalizers, talosControlPlaneResource, type ClusterRecord } from "@talos-operator/api";
import { createKubeClient, type JsonPatchOperation, type KubeClient } from "@talos-operator/kube-runtime";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import { secretType, type Secret } from "../world/kinds.ts";
import { CLUSTER_NAME, NAMESPACE } from "./scenario.ts";
import type { EffectId } from "./effects.ts";
import { emptyCounts, type EffectCounts } from "./run-result.ts";
import type { Report } from "./violation.ts";
import { livingEtcd } from "./living-etcd.ts";
import { judgeAdvice } from "./advice-rules.ts";
import { createPodRules } from "./pod-rules.ts";
import { createSecretRules, type SecretRules } from "./secret-rules.ts";
import type { Composed } from "./composed.ts";
import { createCompositionRules } from "./composition-rules.ts";
import type { ObjectView } from "./object-view.ts";
import type { Stage } from "./stage.ts";
import { createDisturbances } from "./disturbances.ts";
import { createInstallations } from "./installations.ts";

/** The operator may have read the bundle or the annotation just before it went; both are read live before what is sent, so a watch that stands still is no excuse. */
export const READ_JUST_BEFORE_MS = 5_000;

/** Copies of Secrets count for a while, and what they tell is written about machine by machine. */
const ADVICE_FOLLOWS_MS = 3 * 60_000;

/** base64(SHA-256(SubjectPublicKeyInfo)) of a certificate. */
export type DescribeSpki = (certificate: string) => string;

/** Watches one world and tells what must never be. Reads past every fault. */
export interface Invariants {
  /** Before an effect leaves the operator. */
  /** @param wokeNow the process that sends stood still up to this moment: what it asked before that it cannot ask again */
  beforeSend(effect: EffectId, address: string | undefined, request: unknown, wokeNow: boolean, detail: string): Promise<void>;
  /** When an effect took place, before anybody hears of it. */
  afterEffect(effect: EffectId, address: string | undefined, request: unknown, detail: string): void;
  /** When a machine answered a read. */
  afterRead(path: string): void;
  /** After the operator asked the API of the managed cluster for something. */
  afterAsking(isAnswered: boolean): void;
  /** After the ClusterRecord was written. */
  afterRecordWrite(): Promise<void>;
  /** After an effect took place, and once at the end. */
  check(): Promise<void>;
  /** @param clean how often each effect takes place when nothing goes wrong */
  checkEnd(effects: ReadonlyMap<EffectId, EffectCounts>, clean?: ReadonlyMap<EffectId, EffectCounts>): Promise<void>;
  /** What the operator says where anybody may read. */
  readonly secrets: SecretRules;
}

export interface InvariantsInput {
  /** The Kubernetes API without faults. */
  readonly truth: KubeTransport;
  readonly datacenter: Datacenter;
  readonly stage: Stage;
  /** Where the cluster is a KubernetesCluster. */
  readonly composed: Composed | undefined;
  readonly objects: ObjectView;
  /** The API of the managed cluster, past every fault. */
  readonly workload: () => KubeClient | undefined;
  readonly now: () => number;
  /** As `now`, of a clock that never leaps. */
  readonly steadyNow: () => number;
  readonly describeSpki: DescribeSpki;
  readonly report: Report;
}

/**
 * S1 one founding for a Talos cluster id; S2 none while a control plane holds etcd data, or is out of sight and was configured; S3 only the recorded
 * target, recorded before, and what the record says of foundings and machines is never lost; S4 founded is what has a member; S5 the bundle never
 * changes; S6 nothing is sent while the bundle is away; S7 no machine gets a config of another bundle; S8 nothing can take the bundle along; S9 nothing
 * secret where anybody may read (`secret-rules.ts`); S20 a machine gets its configuration only after its identity was written down, and only the machine that was; S22 a
 * machine that was written down with one key gets no configuration under another without a person's word; S23 the finalizer comes before what it
 * guards, and goes when every machine is blank or given up; S31 a paused cluster is left alone; S33 so is one whose record holds what only a newer
 * release knows, and what it holds is kept; S34 what is being deleted gets no configuration any more, but for a control plane without which its configured workers
 * could not be wiped; S35 while the keys are away nobody is told to reset a machine or to give it up (`advice-rules.ts`); Once: keys are made once, each machine takes one
 * configuration and installs each Talos once (`installations.ts`); Count: no effect takes place more often than without faults, but for what the faults themselves repeat. What concerns nodes and members
 * that exist is in `disturbances.ts`, what concerns pods in `pod-rules.ts`, what
 * concerns KubernetesClusters in `composition-rules.ts`.
 */
export function createInvariants(input: InvariantsInput): Invariants {
  const { truth, datacenter, stage, now, describeSpki, report } = input;
  const pods = createPodRules(input.workload, datacenter, stage, input.steadyNow, report);
  const composition =
    input.composed === undefined ? undefined : createCompositionRules(truth, input.objects, input.composed, datacenter, stage, report);
  const disturbances = createDisturbances(datacenter, stage, now, report);
  const installations = createInstallations(datacenter, stage, now, report);
  const secretRules = createSecretRules(report);
  const client = createKubeClient(truth);
  const secrets = client.resource<Secret>(secretType);
  const records = client.resource(clusterRecordResource);
  let firstBundle: { readonly name: string; readonly hash: string } | undefined;
  /** It was deleted, and nothing of it was left. */
  let hasEnded = false;
  let bootstrapTarget: string | undefined;
  let { generation } = stage;
  let lastRecord: ClusterRecord | undefined;
  /** etcd of this cluster was bootstrapped, whatever became of its data since. */
  let hadMember = hasMember();

  const readRecord = async (): Promise<ClusterRecord | undefined> =>
    (await records.tryGet({ namespace: NAMESPACE, name: CLUSTER_NAME })) as ClusterRecord | undefined;

  /** What was known of a cluster is not true of the next one of its name. */
  function forgetFormer(): void {
    if (generation === stage.generation) return;
    generation = stage.generation;
    firstBundle = undefined;
    hasEnded = false;
    bootstrapTarget = undefined;
    hadMember = false;
  }

  async function checkBundle(): Promise<void> {
    forgetFormer();
    const { items } = await secrets.list({ namespace: NAMESPACE });
    for (const { metadata, data } of items) secretRules.remember(metadata?.name ?? "", data);
    const isBundle = ({ metadata }: Secret): boolean =>
      metadata?.name !== stage.takenName && new RegExp(`^${CLUSTER_NAME}-bundle-\\d+$`).test(metadata?.name ?? "");
    const bundles = items.filter(isBundle);
    if (bundles.length > 1) report("S5", `there are ${bundles.length} bundles of one cluster`);
    const [bundle] = bundles;
    const isDeleted = stage.desired === undefined && stage.deletionPolicy === "reset";
    const isGone = input.objects.get("taloscontrolplanes", CLUSTER_NAME) === undefined;
    hasEnded ||= isDeleted && isGone && stillConfigured() === undefined;
    if (bundle === undefined || stage.bundleGoneSince !== undefined) return;
    // Keys that were sent before, or are made for a control plane that a late call brought back without its owner, are nobody's.
    if (hasEnded) return;
    const { ownerReferences = [], finalizers: held = [] } = bundle.metadata ?? {};
    if (ownerReferences.length > 0) report("S8", "the bundle goes when its owner goes");
    if (!held.includes(finalizers.bundle) && stillConfigured() !== undefined)
      report("S8", `the bundle has no finalizer, and ${stillConfigured() ?? ""} has a configuration of it`);
    if (bundle.immutable !== true) report("S8", "the bundle is not immutable");
    const seen = { name: bundle.metadata?.name ?? "", hash: createHash("sha256").update(JSON.stringify(bundle.data)).digest("hex") };
    firstBundle ??= seen;
    if (seen.name !== firstBundle.name || seen.hash !== firstBundle.hash)
      report("S5", `the bundle changed: ${seen.name} is not what it was`);
  }

  /** The machine at an address now, by the address that it had in the beginning. */
  function standingAt(address: string): string {
    return stage.routes.get(address) ?? address;
  }

  /** A worker that has a configuration answers nobody before a control plane has one and gives it a certificate. */
  function isNeededByWorkers(address: string): boolean {
    const isConfigured = (one: string): boolean => datacenter.machine(standingAt(one)).state.config.persisted !== undefined;
    if (!stage.everControlPlanes.has(address)) return false;
    const workers = [...stage.everMachines].filter((one) => !stage.everControlPlanes.has(one));
    return workers.some(isConfigured) && ![...stage.everControlPlanes].some(isConfigured);
  }

  /** By then every process has read the Secret anew, and every object was written about. */
  function areKeysLongGone(): boolean {
    return stage.desired !== undefined && stage.bundleGoneSince !== undefined && now() - stage.bundleGoneSince > ADVICE_FOLLOWS_MS;
  }

  function longAgo(since: number | undefined): boolean {
    return since !== undefined && now() - since > READ_JUST_BEFORE_MS;
  }

  async function checkFinalizer(effect: EffectId): Promise<void> {
    const object = await client.resource(talosControlPlaneResource).tryGet({ namespace: NAMESPACE, name: CLUSTER_NAME });
    if (object !== undefined && object.metadata?.finalizers?.includes(finalizers.talosControlPlane) !== true)
      report("S23", `${effect} is sent before the control plane carries its finalizer`);
  }

  /** What was written down once stays written down. */
  function checkMemory(before: ClusterRecord | undefined, after: ClusterRecord): void {
    const machinesOf = ({ spec }: ClusterRecord) => [...(spec.knownControlPlanes ?? []), ...(spec.knownWorkers ?? [])];
    if (before === undefined) return;
    const intent = before.spec.bootstrap?.intent?.machine.name;
    const kept = after.spec.bootstrap?.intent?.machine.name ?? after.spec.bootstrap?.done?.machine.name;
    if (intent !== undefined && kept !== intent) report("S3", `the record named ${intent} to bootstrap etcd, now ${kept ?? "nobody"}`);
    if (before.spec.bootstrap?.done !== undefined && after.spec.bootstrap?.done === undefined)
      report("S3", "the record forgot that etcd was bootstrapped");
    for (const machine of machinesOf(before)) {
      const now = machinesOf(after).find(({ name }) => name === machine.name);
      if (now === undefined) report("S20", `the record forgot ${machine.name}`);
      else if (machine.releasedAt !== undefined) continue;
      // A machine whose address was wrong may have moved before somebody allowed it.
      else if (
        machine.configuredAt !== undefined &&
        now.spki !== machine.spki &&
        ![machine.address, now.address].some((address) => stage.approved.has(address))
      )
        report("S22", `${machine.name} was written down with one key and is now with another, and nobody allowed it`);
    }
  }

  function hasMember(): boolean {
    return [...stage.everControlPlanes].some((address) => datacenter.machine(address).state.etcd.data !== undefined);
  }

  /** A machine that was not given up and is not blank; while the cluster is wanted any of its machines may become so. */
  function stillConfigured(): string | undefined {
    return [...stage.everMachines].find((address) => {
      const { config, hardware, power } = datacenter.machine(standingAt(address)).state;
      const isStopped = hardware.platform === "container" && power === "off";
      const isBlank = stage.desired === undefined && (isStopped || config.persisted === undefined);
      return !isBlank && !stage.abandoned.has(address);
    });
  }

  /** A machine is released when it is blank, or by a person's word. */
  async function checkRelease(): Promise<void> {
    if (stage.desired !== undefined) return;
    const policy = stage.deletionPolicy;
    if (policy === "preserve") return;
    const object = await client.resource(talosControlPlaneResource).tryGet({ namespace: NAMESPACE, name: CLUSTER_NAME });
    if (object !== undefined) return;
    const left = stillConfigured();
    if (left !== undefined) report("S23", `the control plane is gone, and ${left} still holds its configuration`);
    if (lastRecord !== undefined && (await readRecord()) !== undefined)
      report("S23", "the control plane is gone and the record is left behind");
  }

  /** Repetitions that faults account for. */
  function repeated(counts: EffectCounts): number {
    return counts.C1 + counts.C3 + counts.D + counts.R + counts.L + counts.X;
  }

  return {
    afterEffect(effect, address, request, detail) {
      // What is sent by an old reading is refused; what takes place was not.
      if (effect === "K2" && longAgo(stage.newerRecordSince)) report("S33", "the record of a newer release was written");
      // One that is empty and that nobody's cluster holds any more needs no word.
      if (effect === "T2" && address !== undefined && (stage.approved.has(address) || stage.reinstalled.has(address))) stage.allowed += 1;
      // A member with wrong data gives up the leadership, leaves etcd and boots to join anew, whoever asked for what beside it.
      if (isOf(effect, "T6", "T7", "T11") && address !== undefined && stage.corrupted.has(address)) stage.allowed += 1;
      if (address !== undefined) disturbances.tookEffect(effect, address, request, detail);
      installations.look();
    },
    afterRead(path) {
      disturbances.read(path);
      installations.look();
    },
    afterAsking(isAnswered) {
      pods.asked(isAnswered);
    },
    async beforeSend(effect, address, request, wokeNow, detail) {
      const isKept =
        isOf(effect, "K1", "K2", "K4", "K5", "K7", "WL1") && !tellsOfMachine(request) && !isBesideMachines(request) && !wokeNow;
      if ((isKept || effect.startsWith("T")) && longAgo(stage.pausedSince)) report("S31", `${effect} is sent while the cluster is paused`);
      if (effect.startsWith("T") && longAgo(stage.newerRecordSince))
        report("S33", `${effect} is sent while the record holds what only a newer release knows`);
      if (effect === "K1") await checkFinalizer(effect);
      await pods.beforeSend(effect, address, request);
      if (isOf(effect, "K6", "K9") && !wokeNow && areKeysLongGone()) judgeAdvice(request as KubeRequest, report);
      if (address === undefined) await composition?.beforeSend(request as KubeRequest);
      if (address === undefined) return;
      if (effect.startsWith("T") && longAgo(stage.bundleGoneSince)) report("S6", `${effect} goes to ${address} while the keys are away`);
      const record = await readRecord();
      disturbances.beforeSend(effect, address, request, record, detail);
      if (effect === "T10" && detail.includes("/Upgrade ")) installations.beforeSend(address, request);
      const known = [...(record?.spec.knownControlPlanes ?? []), ...(record?.spec.knownWorkers ?? [])];
      if (effect === "T2" && !wokeNow && longAgo(stage.deletedSince) && !isNeededByWorkers(address))
        report("S34", `a configuration goes to ${address}, and its cluster is being deleted`);
      if (effect === "T2") {
        const pinned = known.find((machine) => machine.address === address);
        const spki = currentSpki(datacenter, standingAt(address), describeSpki);
        if (pinned === undefined) report("S20", `a configuration goes to ${address} before its identity was written down`);
        else if (spki !== undefined && pinned.spki !== spki)
          report("S20", `a configuration goes to ${address}, whose key is not the recorded one`);
        const { data } = request as { readonly data?: Uint8Array };
        // Network settings, which go before it, are of no cluster.
        if (data !== undefined && !Buffer.from(data).includes(record?.spec.clusterId ?? "no record"))
          report("S7", `a configuration of another cluster goes to ${address}`);
      }
      if (effect !== "T4") return;
      forgetFormer();
      const intent = record?.spec.bootstrap?.intent ?? record?.spec.bootstrap?.done;
      if (intent === undefined) report("S3", `Bootstrap goes to ${address} without a recorded intent`);
      else if (intent.machine.address !== address) report("S3", `Bootstrap goes to ${address}, but ${intent.machine.address} is recorded`);
      const target = standingAt(address);
      if (bootstrapTarget !== undefined && bootstrapTarget !== target && !stage.isRecordLost)
        report("S3", `Bootstrap goes to ${target} after it went to ${bootstrapTarget}`);
      bootstrapTarget = target;
      // What the machines are, not what the record says of them.
      for (const other of stage.everControlPlanes) {
        const { state } = datacenter.machine(other);
        // The target itself may hold data already: a repeated call whose first reply was lost is refused by the machine and harmless.
        if (state.etcd.data !== undefined && other !== target) report("S2", `Bootstrap goes to ${target} while ${other} holds etcd data`);
        const isSomewhere = [...stage.everControlPlanes].some((one) => standingAt(one) === other);
        if (state.config.persisted !== undefined && (state.power === "off" || !state.isConnected || !isSomewhere))
          report("S2", `Bootstrap goes to ${target} while ${other} is out of sight`);
      }
    },
    async afterRecordWrite() {
      const record = await readRecord();
      if (record === undefined) return;
      const before = lastRecord?.metadata.uid === record.metadata.uid ? lastRecord : undefined;
      lastRecord = record;
      checkMemory(before, record);
      forgetFormer();
      hadMember ||= hasMember();
      const { done } = record.spec.bootstrap ?? {};
      if (done !== undefined && before?.spec.bootstrap?.done === undefined && !hadMember)
        report("S4", "the record says that etcd was bootstrapped, and no machine is a member");
    },
    async check() {
      const foundings = new Map<string, number>();
      for (const cluster of datacenter.etcdClusters()) foundings.set(cluster.clusterId, (foundings.get(cluster.clusterId) ?? 0) + 1);
      for (const [clusterId, count] of foundings)
        if (count > 1) report("S1", `etcd of cluster ${clusterId.slice(0, 8)} was bootstrapped ${count} times`);
      const inUse = new Set(livingEtcd(datacenter).map(({ clusterId }) => clusterId));
      if (inUse.size > 1 || foundings.size > stage.generation) report("S7", `machines of one cluster carry ${foundings.size} cluster ids`);
      disturbances.look();
      await checkBundle();
      await checkRelease();
    },
    async checkEnd(effects, clean) {
      await this.check();
      const keys = effects.get("K1") ?? emptyCounts();
      // Keys that were sent late are made where the others are away, or gone with their cluster; a control plane that is sent late gets others.
      const late = keys.L + (hasEnded ? (effects.get("K5") ?? emptyCounts()).L : 0);
      const made = keys.tookEffect - Math.min(late, Math.max(0, keys.tookEffect - stage.mayMakeKeys));
      if (made > stage.mayMakeKeys || (stage.desired !== undefined && made < stage.mayMakeKeys - stage.keysNeverMade))
        report("Once", `keys were made ${made} times instead of ${stage.mayMakeKeys}`);
      const configured = effects.get("T2") ?? emptyCounts();
      if (configured.tookEffect > stage.mayConfigure + repeated(configured) + stage.mayRepeat)
        report("Once", `${stage.mayConfigure} machines took ${configured.tookEffect} configurations`);
      if (clean === undefined) return;
      for (const [effect, counts] of effects) {
        if (!effect.startsWith("T")) continue;
        // A worker whatever befell it is followed by another, which begins at the beginning.
        const restarts =
          effect === "T12" ? [...effects].filter(([one]) => one.startsWith("S3")).reduce((sum, [, one]) => sum + faultsOf(one), 0) : 0;
        const most = (clean.get(effect)?.tookEffect ?? 0) + repeated(counts) + restarts;
        if (counts.tookEffect > most)
          report("Count", `${effect} took place ${counts.tookEffect} times, ${most} at most without a fault's help`);
      }
    },
    secrets: secretRules,
  };
}

/** Key of the certificate that a machine presents in maintenance mode. */
function currentSpki(datacenter: Datacenter, address: string, describeSpki: DescribeSpki): string | undefined {
  const { api } = datacenter.machine(address).state;
  return api.kind === "down" ? undefined : describeSpki(api.identity.certificate);
}

/**
 * A paused cluster is backed up, for that only reads: of its record changes nothing but that a snapshot is taken, or was. And addons say what they wait for;
 * that nothing is installed their own rules judge.
 */
function isBesideMachines(request: unknown): boolean {
  const { path = "", body } = request as Partial<KubeRequest>;
  if (path.includes("/talosetcdbackup") || path.includes("/talosclusteraddon")) return true;
  // Of the record a snapshot's claim alone: it says who reads, and disturbs nothing.
  const isPatchOfRecord = /\/clusterrecords\/[^/]+$/.test(path) && Array.isArray(body);
  return (
    isPatchOfRecord &&
    (body as readonly JsonPatchOperation[]).every((change) => /^\/(metadata\/resourceVersion|spec\/snapshot)/.test(change.path))
  );
}

/** Annotations of a Machine say what was seen of it, as a status does. */
function tellsOfMachine(request: unknown): boolean {
  const { path, body } = request as Partial<KubeRequest>;
  if (path === undefined || !/^\/apis\/vitistack\.io\/.*\/machines\/[^/]+$/.test(path)) return false;
  const { metadata = {}, ...rest } = (body ?? {}) as { readonly metadata?: Readonly<Record<string, unknown>>; readonly spec?: unknown };
  return rest.spec === undefined && metadata["finalizers"] === undefined && metadata["annotations"] !== undefined;
}

function isOf(effect: EffectId, ...effects: readonly EffectId[]): boolean {
  return effects.includes(effect);
}

function faultsOf({ sent: _sent, tookEffect: _tookEffect, ...faults }: EffectCounts): number {
  return Object.values(faults).reduce((sum, count) => sum + count, 0);
}
