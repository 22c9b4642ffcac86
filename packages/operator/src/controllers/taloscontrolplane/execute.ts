import {
  apiVersionOf,
  clusterRecordResource,
  controllerReference,
  finalizers,
  talosControlPlaneResource,
  talosMachineResource,
  talosWorkerResource,
} from "@talos-operator/api";
import type { ClusterRecord, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { addFinalizer, deleteExactly, isAlreadyExists, isConflict, isControlledBy, removeFinalizer } from "@talos-operator/kube-runtime";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { SpanAttributes } from "@talos-operator/ports";
import { contractFor, fingerprintSecretsBundle, generateSecretsBundle } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { wholeBundle } from "../../config/config-base.ts";
import { EffectError } from "../../errors.ts";
import { givenSecretsName, readGivenSecrets } from "../../secrets/given-secrets.ts";
import type { GivenSecrets } from "../../secrets/given-secrets.ts";
import { usableBundle } from "../../secrets/bundle-store.ts";
import { BACKDATE_MS } from "../../secrets/credentials.ts";
import { machineLabels } from "../shared/machine-labels.ts";
import { applyConfig, keepConfig } from "./effects/apply-config.ts";
import { asksGuard } from "./effects/asks-guard.ts";
import { bootstrapEtcd } from "./effects/bootstrap-etcd.ts";
import { configureMachine } from "./effects/configure-machine.ts";
import { followEndpoint } from "./effects/follow-endpoint.ts";
import { forPool, PoolFailure } from "./effects/for-pool.ts";
import { rebootMachine } from "./effects/reboot-machine.ts";
import { forfeitLeadership } from "./effects/forfeit-leadership.ts";
import { leaveEtcd } from "./effects/leave-etcd.ts";
import { removeMember } from "./effects/remove-member.ts";
import { takeBundle } from "./effects/take-bundle.ts";
import { releasePool } from "./effects/release-pool.ts";
import { resetMachine } from "./effects/reset-machine.ts";
import { writeMeta } from "./effects/write-meta.ts";
import { tendCertificates } from "./effects/tend-certificates.ts";
import { cordonAndDrain, deleteNode, lookAtNodes, uncordonNode } from "./effects/tend-nodes.ts";
import { writeKubeconfig, writeTalosconfig } from "./effects/write-access.ts";
import { replaceRecord } from "./record/replace-record.ts";
import { printRecord, readRecord } from "./record/facts-codec.ts";
import { machineFact } from "./record/facts.ts";
import { concernedBy } from "./held.ts";
import { isMadeAnew } from "./membership/told-machines.ts";
import { equip } from "./fresh-copies.ts";
import { writtenConfig } from "./spec/written-config.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Action, ObjectName } from "../../model/effect.ts";
import type { DeclaredMachine, MachineName } from "../../model/machine.ts";
import type { Observed } from "../../model/observation.ts";
import type { Effects } from "./effects/ports.ts";

/** Carries out one action. It takes no decision: what it finds changed at the last moment it leaves to the next pass. */
async function execute(action: Action, effects: Effects): Promise<void> {
  if (asksGuard.has(action.kind) || action.kind === "WriteRecord")
    await Promise.all(concernedBy(action, effects.seen).map((machine) => effects.demandUnpaused(machine)));
  const { client, seen, session, signal } = effects;
  const namespace = seen.controlPlane.metadata.namespace ?? "";
  switch (action.kind) {
    case "AddFinalizer": {
      if (action.object.kind === "TalosMachine") {
        const machines = client.resource<TalosMachine>(talosMachineResource);
        const machine = await machines.tryGet({ namespace, name: action.object.name });
        if (machine === undefined) return;
        const guarded = await addFinalizer(machines, machine, finalizers.talosMachine, { signal });
        return effects.caughtUp("TalosMachine", guarded.metadata.resourceVersion);
      }
      if (action.object.kind === "TalosWorker") return guardPool(action.object.name, effects);
      const updated = await addFinalizer(
        client.resource<TalosControlPlane>(talosControlPlaneResource),
        seen.controlPlane,
        finalizers.talosControlPlane,
        { signal },
      );
      return effects.caughtUp("TalosControlPlane", updated.metadata.resourceVersion);
    }
    case "RemoveFinalizer": {
      const { kind, name } = action.object;
      if (kind === "TalosWorker") return forPool(name, effects, () => releasePool(name, effects));
      const resource = client.resource(talosControlPlaneResource);
      const object = await resource.tryGet({ namespace, name });
      // Another object of this name was not released.
      if (object === undefined || !isSeen(kind, object, seen)) return;
      await deleteUntold(effects);
      await removeFinalizer(resource, object, finalizers.talosControlPlane, { signal });
      return;
    }
    case "CreateMachine":
      return createMachine(action.machine, effects);
    case "DeleteMachine":
      return deleteMachine(action.name, effects);
    case "FollowEndpoint":
      return followReference(action.name, action.to, effects);
    case "CreateBundle":
      return createBundle(action.secret, effects);
    case "TakeBundle":
      return takeBundle(action, effects);
    case "WriteRecord":
      return writeRecord(action, effects);
    case "ConfigureMachine":
      return configureMachine(action, effects);
    case "BootstrapEtcd":
      return bootstrapEtcd(action, effects);
    case "WriteKubeconfig":
      return writeKubeconfig(action, effects);
    case "WriteTalosconfig":
      return writeTalosconfig(action, effects);
    case "ResetMachine":
      return resetMachine(action, effects);
    case "LeaveEtcd":
      return leaveEtcd(action, effects);
    case "ForfeitLeadership":
      return forfeitLeadership(action, effects);
    case "RemoveMember":
      return removeMember(action, effects);
    case "CordonAndDrain":
      return cordonAndDrain(action, effects);
    case "LookAtNodes":
      return lookAtNodes(effects);
    case "TendCertificates":
      return tendCertificates(action, effects);
    case "Uncordon":
      return uncordonNode(action, effects);
    case "DeleteNode":
      return deleteNode(action, effects);
    case "ApplyConfig":
      return applyConfig(action, effects);
    case "KeepConfig":
      return keepConfig(action, effects);
    case "RebootMachine":
      return rebootMachine(action, effects);
    case "WriteMeta":
      return writeMeta(action, effects);
    case "AnswerAnnotation": {
      const { name } = seen.controlPlane.metadata;
      // Only the value that was acted on: a newer word of the person stays.
      const path = `/metadata/annotations/${action.annotation.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const operations = [{ op: "test", path, value: action.value } as const, { op: "remove", path } as const];
      const updated = await client
        .resource<TalosControlPlane>(talosControlPlaneResource)
        .patch({ namespace, name }, { type: "json", operations }, { signal });
      effects.event(seen.controlPlane, "Reconciling", "AnswerAnnotation", action.answer);
      return effects.caughtUp("TalosControlPlane", updated.metadata.resourceVersion);
    }
    case "DeleteBundle":
      await demandLease(effects);
      await effects.bundles.delete({ namespace, name: action.secret }, action.ifFingerprint);
      session.bundle = undefined;
      return;
    case "DeleteRecord": {
      await demandLease(effects);
      const records = client.resource<ClusterRecord>(clusterRecordResource);
      const record = await records.tryGet({ namespace, name: seen.controlPlane.metadata.name });
      session.record = undefined;
      if (record === undefined || record.metadata.uid !== action.ifUid) return;
      await removeFinalizer(records, record, finalizers.clusterRecord, { signal });
      await deleteExactly(records, record);
      return;
    }
  }
}

/** Runs the actions in order; neighbours that concern different machines run together. The first failure ends the pass. */
export async function executeAll(actions: readonly Action[], effects: Effects): Promise<void> {
  for (const group of grouped(actions)) {
    if (group.some(({ kind }) => !asksGuard.has(kind))) await effects.demandReconciled();
    const ended = effects.guard.gather(group.filter(({ kind }) => asksGuard.has(kind)).length);
    const results = await Promise.allSettled(
      group.map(async (action) => {
        try {
          await effects.span.inSpan(`effect ${action.kind}`, aboutAction(action), () => execute(action, effects));
        } finally {
          if (asksGuard.has(action.kind)) ended();
        }
      }),
    );
    for (const [index, result] of results.entries())
      effects.carriedOut(group[index]?.kind ?? "", result.status === "rejected" ? result.reason : undefined);
    // What a pool alone is refused holds up nobody else.
    const failed = results.find((result) => result.status === "rejected" && !(result.reason instanceof PoolFailure));
    if (failed?.status === "rejected") throw failed.reason;
  }
}

/** What the span of an effect says: names alone, of what it holds nothing else. */
function aboutAction(action: Action): SpanAttributes {
  const machine =
    "machine" in action
      ? typeof action.machine === "string"
        ? action.machine
        : action.machine.name
      : action.kind === "DeleteMachine" || action.kind === "FollowEndpoint"
        ? action.name
        : undefined;
  return { effect: action.kind, machine };
}

const together = new Set<Action["kind"]>([
  "AddFinalizer",
  "CreateMachine",
  "DeleteMachine",
  "FollowEndpoint",
  "ConfigureMachine",
  "ApplyConfig",
  "KeepConfig",
  "WriteMeta",
  "RebootMachine",
  "ResetMachine",
  "CordonAndDrain",
  "Uncordon",
  "DeleteNode",
  "WriteKubeconfig",
  "WriteTalosconfig",
]);

function grouped(actions: readonly Action[]): readonly (readonly Action[])[] {
  const groups: Action[][] = [];
  for (const action of actions) {
    const last = groups.at(-1);
    const before = last?.[0];
    if (last !== undefined && before !== undefined && together.has(action.kind) && together.has(before.kind)) last.push(action);
    else groups.push([action]);
  }
  return groups;
}

/** Puts the finalizer on a worker pool. */
function guardPool(name: string, effects: Effects): Promise<void> {
  const { client, seen, signal } = effects;
  return forPool(name, effects, async () => {
    const pool = seen.workers.find(({ metadata }) => metadata.name === name);
    if (pool === undefined) return;
    const guarded = await addFinalizer(client.resource<TalosWorker>(talosWorkerResource), pool, finalizers.talosWorker, { signal });
    return effects.caughtUp("TalosWorker", guarded.metadata.resourceVersion);
  });
}

async function followReference(name: MachineName, to: string, effects: Effects): Promise<void> {
  const { client, seen } = effects;
  const machine = seen.machineObjects.find((object) => object.metadata.name === name);
  if (machine === undefined) return;
  const pool = machine.spec?.workerRef?.name;
  const follow = async (): Promise<void> => {
    const version = await followEndpoint(client.resource<TalosMachine>(talosMachineResource), machine, to);
    return effects.caughtUp("TalosMachine", version);
  };
  return pool === undefined ? follow() : forPool(pool, effects, follow);
}

async function createMachine(machine: DeclaredMachine, effects: Effects): Promise<void> {
  const { client, seen } = effects;
  const { kind, name } = machine.owner;
  const pool = kind === "TalosWorker" ? seen.workers.find(({ metadata }) => metadata.name === name) : undefined;
  const create = async (): Promise<void> => {
    try {
      const wanted = talosMachineFor(machine, pool ?? seen.controlPlane, seen.controlPlane.metadata.name);
      const created = await client.resource<TalosMachine>(talosMachineResource).create(wanted);
      await effects.caughtUp("TalosMachine", created.metadata.resourceVersion);
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) throw thrown;
    }
  };
  return pool === undefined ? create() : forPool(pool.metadata.name, effects, create);
}

/** The TalosMachine of a declared machine. @param cluster name of its TalosControlPlane */
export function talosMachineFor(machine: DeclaredMachine, pool: TalosControlPlane | TalosWorker, cluster: string): TalosMachine {
  const { deletionPolicy } = pool.spec ?? {};
  const type = pool.kind === "TalosWorker" ? talosWorkerResource : talosControlPlaneResource;
  const owner = { apiVersion: apiVersionOf(type), kind: pool.kind, metadata: pool.metadata };
  const reference = {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    namespace: owner.metadata.namespace ?? "",
    uid: owner.metadata.uid ?? "",
  };
  const { base: _base, ...machineSpec } = machine.machineSpec;
  return {
    apiVersion: apiVersionOf(talosMachineResource) as TalosMachine["apiVersion"],
    kind: "TalosMachine",
    metadata: {
      namespace: owner.metadata.namespace ?? "",
      name: machine.name,
      finalizers: [finalizers.talosMachine],
      labels: machineLabels({ role: machine.role, cluster, pool: machine.role === "worker" ? owner.metadata.name : undefined }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: {
      endpoint: machine.address,
      version: machine.version,
      machineSpec,
      ...(machine.role === "controlplane" ? { controlPlaneRef: reference } : { workerRef: reference }),
      ...(deletionPolicy === undefined ? {} : { deletionPolicy }),
    },
  };
}

async function deleteMachine(name: string, effects: Effects): Promise<void> {
  const machines = effects.client.resource<TalosMachine>(talosMachineResource);
  const key = { namespace: effects.seen.controlPlane.metadata.namespace ?? "", name };
  const machine = await machines.tryGet(key);
  if (machine === undefined || !isSeen("TalosMachine", machine, effects.seen)) return;
  await removeFinalizer(machines, machine, finalizers.talosMachine);
  await deleteExactly(machines, machine);
}

/** The object is the one that the decision was made on; one that was not seen at all is what was decided about by its name. */
function isSeen(kind: ObjectName["kind"], { metadata }: KubeObject, seen: Observed): boolean {
  const known: readonly KubeObject[] = {
    TalosControlPlane: [seen.controlPlane],
    TalosWorker: seen.workers,
    TalosMachine: seen.machineObjects,
  }[kind];
  const before = known.find((one) => one.metadata?.name === metadata?.name);
  return before === undefined || before.metadata?.uid === metadata?.uid;
}

/** The objects of its own machines that no list told of: they would keep their finalizer, and nobody would be left to take it off. */
async function deleteUntold(effects: Effects): Promise<void> {
  const { client, seen } = effects;
  const machines = client.resource<TalosMachine>(talosMachineResource);
  for (const { declared } of [...seen.machines, ...seen.former]) {
    if (declared.owner.kind !== "TalosControlPlane") continue;
    const machine = await machines.tryGet({ namespace: seen.controlPlane.metadata.namespace ?? "", name: declared.name });
    if (machine !== undefined && isControlledBy(machine, seen.controlPlane)) await deleteMachine(declared.name, effects);
  }
}

/** Makes the keys of a new cluster. Reads live first: a Secret that is there, whoever made it, is never replaced. */
async function createBundle(secret: string, effects: Effects): Promise<void> {
  const { seen, session, keys, clock, random, bundles, log } = effects;
  const { namespace = "", name } = seen.controlPlane.metadata;
  const written = writtenBundle(seen);
  const serviceAccountKey =
    written === undefined
      ? session.serviceAccountKey(
          () => keys.createPrivateKey("rsa4096"),
          () => effects.wake(),
        )
      : "";
  if (serviceAccountKey === undefined) return;
  const record = await effects.client.resource<ClusterRecord>(clusterRecordResource).tryGet({ namespace, name });
  session.record = { at: clock.now(), value: record ?? "absent" };
  if (record !== undefined) return;
  await demandLease(effects);
  const contract = contractFor(seen.controlPlane.spec?.version ?? "");
  // Machines whose clock is behind ours must not wait for the authorities to begin.
  const backdated = { now: () => clock.now() - BACKDATE_MS };
  const given = written === undefined ? await demandGiven(effects) : undefined;
  const chosen = given === undefined ? {} : { trustdToken: given.token, authorities: { os: given.authority } };
  const bundle = written ?? (await generateSecretsBundle({ contract, clock: backdated, random, keys, serviceAccountKey, ...chosen }));
  log.info({ action: "CreateBundle", secretName: secret }, "Creating secrets bundle");
  const outcome = await bundles.create({ namespace, name: secret }, name, bundle);
  session.bundle = undefined;
  session.forgetServiceAccountKey();
  if (outcome === "existed") return;
  session.noteSent("CreateBundle", "answered", "");
  const fingerprint = fingerprintSecretsBundle(bundle);
  session.bundle = {
    at: clock.now(),
    value: { kind: "present", value: { fingerprint, clusterId: bundle.cluster.id, isOurs: true, isDeleting: false } },
  };
  // They were stored this moment: whom they are for need not read them again.
  await session.keys(fingerprint, () => Promise.resolve(bundle));
  await equip(session, bundle, fingerprint, effects);
  effects.event(seen.controlPlane, "Created", "CreateBundle", `Made the cluster's keys: Secret ${secret}.`);
}

/** @throws EffectError `NOT_LEADING` */
async function demandLease({ leading }: Effects): Promise<void> {
  if (!(await leading.confirm())) throw new EffectError("NOT_LEADING", "another process holds the lease");
}

/** The secrets that somebody gave for the keys, read anew; `undefined` = none are given. @throws EffectError `PRECONDITION_GONE` */
async function demandGiven(effects: Effects): Promise<GivenSecrets | undefined> {
  const { metadata } = effects.seen.controlPlane;
  const name = givenSecretsName(metadata);
  if (name === undefined) return undefined;
  const { source, given, problem } = await readGivenSecrets(effects, metadata.namespace ?? "", name);
  if (given === undefined) throw new EffectError("PRECONDITION_GONE", `the ${source} gives no secrets: ${problem ?? "it changed"}`);
  return given;
}

/** The keys in the config that a person wrote; `undefined` = it holds none, or there is none. */
function writtenBundle(seen: Observed): SecretsBundle | undefined {
  const base = writtenConfig(seen);
  return base?.fingerprint === undefined ? undefined : wholeBundle(base.text.reveal());
}

/** Compare-and-swap of the whole record. What comes back is what the rest of the pass and the next one go on with. */
async function writeRecord(action: Extract<Action, { readonly kind: "WriteRecord" }>, effects: Effects): Promise<void> {
  const { client, seen, session, leading, clock } = effects;
  const { namespace = "", name } = seen.controlPlane.metadata;
  const records = client.resource<ClusterRecord>(clusterRecordResource);
  const before = session.record?.value;
  const writer = { identity: leading.identity, fencingToken: leading.fencingToken };
  if (action.ifResourceVersion === undefined) await demandBundle(action.facts.bundle, effects);
  const known = seen.record.kind === "present" ? seen.record.value.facts.intents : [];
  for (const intent of action.facts.intents) if (!known.includes(intent)) session.noteBegun(intent);
  try {
    const record = printRecord({ namespace, name }, action.facts, before === "absent" ? undefined : before, writer);
    const stored =
      action.ifResourceVersion === undefined || before === undefined || before === "absent"
        ? await records.create(record)
        : await replaceRecord(records, before, record);
    session.record = { at: clock.now(), value: stored };
    if (seen.record.kind === "present" && action.ifResourceVersion !== undefined) effects.written(seen.record.value.facts, action.facts);
    for (const { name, spki } of newlyPinned(action.facts, seen)) session.notePinned(name, spki);
    // Whatever record comes after this one did not come with new keys: machines may run that it does not know.
    session.forgetSent("CreateBundle");
    if (readRecord(stored) === undefined)
      throw new Error(`the API server dropped fields of ClusterRecord ${name}: install the CRDs of this release`);
    if (action.ifResourceVersion === undefined && session.credentialsFor?.fingerprint !== action.facts.bundle.fingerprint) {
      const bundle = await effects.bundles.read({ namespace, name: action.facts.bundle.secretName });
      if (bundle?.bundle !== undefined) await equip(session, usableBundle(bundle, action.facts.bundle), bundle.fingerprint, effects);
    }
  } catch (thrown) {
    session.record = undefined;
    if (isConflict(thrown) || isAlreadyExists(thrown))
      effects.log.debug({ action: "WriteRecord", reason: action.why }, "The record changed meanwhile; deciding anew");
    throw thrown;
  }
}

/** Machines that the record names for the first time, or with another key. To those of a record that was made anew others may have sent something. */
function newlyPinned(facts: ClusterFacts, { record }: Observed): readonly { readonly name: MachineName; readonly spki: string }[] {
  if (isMadeAnew(facts)) return [];
  const before = record.kind === "present" ? record.value.facts : undefined;
  return facts.machines.flatMap(({ name, spki }) =>
    spki === undefined || machineFact(before, name)?.spki === spki ? [] : [{ name, spki }],
  );
}

/**
 * A first record names keys that are there now. Keys that this process did not make were seen a while ago: record and Secret may have been taken away
 * together, and a record made from memory would stand in the way of whoever restores them.
 *
 * @throws EffectError `PRECONDITION_GONE`
 */
async function demandBundle(expected: ClusterFacts["bundle"], { seen, session, bundles }: Effects): Promise<void> {
  if (session.sent().get("CreateBundle")?.outcome === "answered") return;
  const stored = await bundles.read({ namespace: seen.controlPlane.metadata.namespace ?? "", name: expected.secretName });
  if (stored?.fingerprint === expected.fingerprint) return;
  session.bundle = undefined;
  throw new EffectError("PRECONDITION_GONE", `the Secret ${expected.secretName} does not hold the keys any more that were seen in it`);
}
