import {
  clusterRecordResource,
  deniedHost,
  findCondition,
  isConditionTrue,
  parseHost,
  rfc3339,
  talosClusterResource,
  talosControlPlaneResource,
  talosMachineResource,
  talosWorkerResource,
  withSpecDefaults,
} from "@talos-operator/api";
import type {
  ClusterRecord,
  Condition,
  Finding,
  HostOptions,
  TalosCluster,
  TalosControlPlane,
  TalosMachine,
  TalosWorker,
} from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { imagine } from "../composition/taloscluster/imagined.ts";
import { findingsAt } from "../controllers/shared/written-fields.ts";
import { configHashOf } from "../procedures/configure/config-hash.ts";
import { machinesOf } from "../spec/declared.ts";
import { defaultRules } from "../decide.ts";
import { factsOf, machineFact, mayHoldConfig } from "../record/facts.ts";
import { poolContract } from "../spec/pool-contract.ts";
import { readRecord } from "../record/facts-codec.ts";
import { asMade, fixedPropertyProblems } from "../spec/fixed-properties.ts";
import { foresee } from "../planning/foresee.ts";
import { asksAnotherTalos } from "../planning/upgrade-plan.ts";
import { createConfigReferences } from "../references/config-references.ts";
import type { ResolvedConfig } from "../references/config-references.ts";
import { withNotReported } from "./what-if-not-reported.ts";
import { firstHazardFindings } from "./first-hazards.ts";
import { sharedNodeNameProblems, sharedNodeNames } from "../spec/node-names.ts";
import { controlPlaneProblems, workerProblems } from "../spec/spec-problems.ts";
import { withStoredSnapshots } from "./what-if-snapshots.ts";
import { changesBetween } from "../config/changes-between.ts";
import { certificateHosts, endpointOf, keptOf } from "../config/endpoints.ts";
import { afterMove, endpointWish } from "../procedures/endpoint/wish.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { DeclaredMachine, MachineName } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { Plan } from "../model/decision.ts";
import type { SeenConfig } from "../model/config.ts";
import type { Look, SeenEtcd, Silent } from "../model/look.ts";

/** How long a machine that was reported as silent counts as silent at least, in milliseconds: longer than anything waits for its return. */
const SILENT_FOR_MS = 15 * 60_000;

/** Objects of a manifest that say something about clusters. */
export type EditedObject = TalosCluster | TalosControlPlane | TalosWorker;

/** What an edit would lead to, cluster by cluster. */
export interface WhatIf {
  /** `namespace/name` of the control plane. */
  readonly cluster: string;
  readonly isNew: boolean;
  readonly plan: Plan;
  /** Machines of which the stored objects do not say enough: the plan assumes what it says of them. */
  readonly unknown: readonly MachineName[];
}

/** What {@link whatIf} needs beside the objects. */
export interface WhatIfPorts {
  readonly client: KubeClient;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Loopback is also let through where machines of the cluster, or ready ones beside it, are there already: their operator lets it through. */
  readonly hosts: HostOptions;
  /** The objects are deleted, as they are stored, instead of edited. */
  readonly isDeletion?: boolean;
}

/**
 * The plan of an edit that nobody made: reads what is stored, puts the edited objects in its place, and plays the rules forward. No machine is asked: what is
 * known of machines is what the operator last reported of them.
 *
 * @param written as a person wrote them: what the API server fills in is filled in
 */
export async function whatIf(written: readonly EditedObject[], ports: WhatIfPorts): Promise<readonly WhatIf[]> {
  const edited = written.map(withSpecDefaults);
  const clusters = new Map<string, { readonly namespace: string; readonly name: string }>();
  for (const object of edited) {
    const namespace = object.metadata.namespace ?? "default";
    const name = clusterOf(object);
    if (name !== "") clusters.set(`${namespace}/${name}`, { namespace, name });
  }
  const results: WhatIf[] = [];
  for (const { namespace, name } of clusters.values()) {
    const found = await worldOf(edited, namespace, name, ports);
    if (found === undefined) continue;
    results.push({
      cluster: `${namespace}/${name}`,
      isNew: found.seen.record.kind === "absent",
      plan: withNotReported(foresee(found.seen, defaultRules), found.seen),
      unknown: found.unknown,
    });
  }
  return results;
}

/** What `configRef` of a pool gave; `undefined` = it names none, or nobody could read it. */
type ConfigOf = (pool: TalosControlPlane | TalosWorker) => ResolvedConfig | undefined;

/** Reads the configurations that these pools refer to, with the access of who asks. */
async function readConfigs(
  pools: readonly (TalosControlPlane | TalosWorker)[],
  namespace: string,
  { client, now }: Pick<WhatIfPorts, "client" | "now">,
): Promise<ConfigOf> {
  const references = createConfigReferences(client, { now: () => now });
  const read = await Promise.all(
    pools.map(async (pool): Promise<readonly (readonly [typeof pool, ResolvedConfig])[]> => {
      if ((pool.spec?.configRef?.name ?? "") === "") return [];
      const config = await references.resolve(pool.spec?.configRef, namespace);
      // That a person may not read it says nothing of the operator.
      return config.kind === "problem" && config.reason !== "ReferenceNotFound" && config.reason !== "InvalidConfig"
        ? []
        : [[pool, config]];
    }),
  );
  const found = new Map(read.flat());
  return (pool) => found.get(pool);
}

/** The machines of a pool, with the configuration that it refers to. */
function declaredBy(pool: TalosControlPlane | TalosWorker, configOf: ConfigOf): readonly DeclaredMachine[] {
  return machinesOf(pool, { config: () => configOf(pool) });
}

/** What is wrong with the spec. */
function problemsOf({
  cluster,
  controlPlane,
  workers,
  facts,
  hosts,
  configOf,
}: {
  readonly cluster: TalosCluster | undefined;
  readonly controlPlane: TalosControlPlane;
  readonly workers: readonly TalosWorker[];
  readonly facts: ClusterFacts | undefined;
  readonly hosts: HostOptions;
  readonly configOf: ConfigOf;
}): readonly Finding[] {
  const config = configOf(controlPlane);
  const contractOf = ({ kind, metadata: { name } }: TalosControlPlane | TalosWorker): string | undefined =>
    poolContract(facts, { kind, name });
  const ofControlPlane = [
    ...controlPlaneProblems(controlPlane, [], hosts, config, contractOf(controlPlane)),
    ...fixedPropertyProblems(controlPlane, facts, config?.kind === "base" ? config.base : undefined),
  ];
  const named = [controlPlane, ...workers].map((pool) => ({ pool, config: configOf(pool), contract: contractOf(pool) }));
  const nodeNames = sharedNodeNames(named, controlPlane);
  const namesOf = (pool: TalosControlPlane | TalosWorker): readonly Finding[] => sharedNodeNameProblems(pool, nodeNames, () => true);
  const hazardsIn = (pool: TalosControlPlane | TalosWorker): readonly Finding[] =>
    firstHazardFindings(pool, declaredBy(pool, configOf), controlPlane, facts);
  ofControlPlane.push(...namesOf(controlPlane), ...hazardsIn(controlPlane));
  return [
    ...(cluster?.spec?.controlPlane === undefined ? ofControlPlane : findingsAt(ofControlPlane, "spec.controlPlane")),
    ...workers.flatMap((worker) => {
      const found = [...workerProblems(worker, controlPlane, [], hosts, configOf(worker), contractOf(worker)), ...namesOf(worker)];
      found.push(...hazardsIn(worker));
      const isInline = cluster?.spec?.worker !== undefined && worker.metadata.name === controlPlane.metadata.name;
      return isInline ? findingsAt(found, "spec.worker") : found;
    }),
  ];
}

/** Machines on loopback are in use, as in a demo. */
function hasLoopback(facts: ClusterFacts | undefined, machines: readonly TalosMachine[]): boolean {
  const inUse = [
    ...(facts?.machines ?? []).filter((fact) => mayHoldConfig(fact)).map(({ address }) => address),
    ...machines.filter(({ status }) => isConditionTrue(status?.conditions, "Ready")).map(({ spec }) => spec?.endpoint ?? ""),
  ];
  return inUse.some((address) => {
    const host = parseHost(address);
    return "kind" in host && deniedHost(host) !== undefined && deniedHost(host, { allowLoopback: true }) === undefined;
  });
}

/** Name of the control plane that an object is about; empty = none. */
function clusterOf(object: EditedObject): string {
  if (object.kind === "TalosControlPlane") return object.metadata.name;
  if (object.kind === "TalosWorker") return object.spec?.controlPlaneRef?.name ?? "";
  return object.spec?.controlPlane === undefined ? (object.spec?.controlPlaneRef?.name ?? "") : object.metadata.name;
}

async function worldOf(
  edited: readonly EditedObject[],
  namespace: string,
  name: string,
  { client, now, hosts: asked, isDeletion = false }: WhatIfPorts,
): Promise<{ readonly seen: Observed; readonly unknown: readonly MachineName[] } | undefined> {
  const key = { namespace, name };
  const [stored, storedCluster, allWorkers, allMachines, record] = await Promise.all([
    client.resource<TalosControlPlane>(talosControlPlaneResource).tryGet(key),
    client.resource<TalosCluster>(talosClusterResource).tryGet(key),
    client.resource<TalosWorker>(talosWorkerResource).list({ namespace }),
    client.resource<TalosMachine>(talosMachineResource).list({ namespace }),
    client.resource<ClusterRecord>(clusterRecordResource).tryGet(key),
  ]);
  const named = edited.filter((object) => (object.metadata.namespace ?? "default") === namespace);
  const own = isDeletion ? deleted(named, [stored, storedCluster, ...allWorkers.items], now) : named;
  if (isDeletion && own.length === 0) return undefined;
  const before = allWorkers.items.filter(({ spec }) => spec?.controlPlaneRef?.name === name);
  const cluster = own.find((object) => object.kind === "TalosCluster" && object.metadata.name === name) as TalosCluster | undefined;
  const imagined =
    cluster === undefined
      ? undefined
      : imagine(
          {
            ...cluster,
            metadata: { ...storedCluster?.metadata, ...cluster.metadata, namespace, uid: storedCluster?.metadata.uid ?? "to be made" },
          },
          { controlPlane: stored, workers: before },
        );
  const controlPlane = imagined?.controlPlane ?? merged(own, stored, name, "TalosControlPlane");
  if (controlPlane === undefined) return undefined;
  const names = new Set([
    ...before.map(({ metadata }) => metadata.name),
    ...own.flatMap((object) => (object.kind === "TalosWorker" ? [object.metadata.name] : [])),
  ]);
  const workers =
    imagined?.workers ??
    [...names].flatMap((worker) => {
      const object = merged(
        own,
        before.find(({ metadata }) => metadata.name === worker),
        worker,
        "TalosWorker",
      );
      return object === undefined || object.spec?.controlPlaneRef?.name !== name ? [] : [object];
    });

  const seenRecord = record === undefined ? undefined : readRecord(record);
  const facts = seenRecord?.facts;
  const hosts = { ...asked, allowLoopback: asked.allowLoopback === true || hasLoopback(facts, allMachines.items) };
  const machineObjects = allMachines.items.filter(
    ({ spec }) => spec?.controlPlaneRef?.name === name || workers.some(({ metadata }) => metadata.name === spec?.workerRef?.name),
  );
  const storedPools = stored === undefined ? [] : [stored, ...before];
  const configOf = await readConfigs([...new Set([controlPlane, ...workers, ...storedPools])], namespace, { client, now });
  const declared = [controlPlane, ...workers].flatMap((pool) => declaredBy(pool, configOf));
  const listed = new Set(declared.map((machine) => machine.name));
  const former = (facts?.machines ?? []).filter((fact) => mayHoldConfig(fact) && !listed.has(fact.name));
  const looks = looksOf([...declared, ...former], machineObjects, stored, facts, now);
  const see = (machine: DeclaredMachine): SeenMachine => ({ declared: machine, look: looks.get(machine.name) ?? { kind: "not-asked" } });
  const machines = declared.map(see);
  const founded = facts?.bootstrapDone !== undefined;
  const seen: Observed = {
    now,
    watchedSince: now,
    controlPlane,
    mode: "reconcile",
    workers,
    machineObjects,
    machines,
    former: former.map((fact) =>
      see({
        name: fact.name,
        role: fact.role,
        address: fact.address,
        owner:
          fact.role === "controlplane"
            ? { kind: "TalosControlPlane", name: "" }
            : { kind: "TalosWorker", name: workerOf(fact.name, machineObjects) },
        field: `ClusterRecord ${fact.name}`,
        version: facts?.talosVersion ?? "",
        machineSpec: {},
      }),
    ),
    problems: problemsOf({ cluster, controlPlane, workers, facts, hosts, configOf }),
    inertFields: [],
    record: seenRecord === undefined ? { kind: "absent" } : { kind: "present", value: seenRecord },
    bundle:
      facts === undefined
        ? { kind: "absent" }
        : {
            kind: "present",
            value: { fingerprint: facts.bundle.fingerprint, clusterId: facts.clusterId, isOurs: true, isDeleting: false },
          },
    ...accessAt(facts, now),
    namespaceIsTerminating: false,
    sent: new Map(),
    // Nobody asks for the Nodes: each machine that runs is taken to have its own, and no drain to be under way.
    ...(founded
      ? { drains: new Map(), nodes: { at: now, nodes: undefined, isAsking: false, isStale: false, cordoned: new Map() } as const }
      : {}),
    mayDisturb: true,
    requireFingerprint: false,
  };
  const configs = configsOf(seen, { pools: storedPools, spec: stored?.spec, configOf });
  return { seen: await withStoredSnapshots({ ...seen, configs }, [cluster, storedCluster], client), unknown: unknownIn(seen) };
}

/** Access Secrets as they should be: nobody reads them. */
function accessAt(facts: ClusterFacts | undefined, now: number): Pick<Observed, "kubeconfig" | "talosconfig"> {
  if (facts?.bootstrapDone === undefined) return { kubeconfig: { kind: "absent" }, talosconfig: { kind: "absent" } };
  const value = { expiresAt: now + 300 * 86_400_000, isOurs: true };
  return {
    kubeconfig: { kind: "present", value: { ...value, endpoints: [facts.endpoint] } },
    talosconfig: { kind: "present", value },
  };
}

/** Machines of which nothing is reported. */
function unknownIn({ machines, former }: Observed): readonly MachineName[] {
  return [...machines, ...former]
    .filter(({ look }) => look.kind === "not-asked" || look.kind === "silent")
    .map(({ declared }) => declared.name);
}

/** What is stored of the objects, on its way out; what is not stored cannot be deleted. */
function deleted(named: readonly EditedObject[], stored: readonly (EditedObject | undefined)[], now: number): readonly EditedObject[] {
  const deletionTimestamp = rfc3339(now);
  return named.flatMap(({ kind, metadata: { name } }) => {
    const found = stored.find((one) => one?.kind === kind && one.metadata.name === name);
    return found === undefined ? [] : [{ ...found, metadata: { ...found.metadata, deletionTimestamp } }];
  });
}

/** The edited object with the metadata of the stored one, or the stored one. */
function merged<K extends "TalosControlPlane" | "TalosWorker", T extends Extract<EditedObject, { readonly kind: K }>>(
  edited: readonly EditedObject[],
  stored: T | undefined,
  name: string,
  kind: K,
): T | undefined {
  const object = edited.find((one) => one.kind === kind && one.metadata.name === name) as T | undefined;
  if (object === undefined) return stored;
  const { annotations } = object.metadata;
  const metadata = {
    ...stored?.metadata,
    ...object.metadata,
    uid: stored?.metadata.uid ?? "to be made",
    finalizers: stored?.metadata.finalizers ?? [],
  };
  return { ...object, metadata: { ...metadata, ...(annotations === undefined ? {} : { annotations }) } };
}

function workerOf(machine: MachineName, objects: readonly TalosMachine[]): string {
  return objects.find(({ metadata }) => metadata.name === machine)?.spec?.workerRef?.name ?? "";
}

/**
 * What the reports say of machines, as looks. Members of etcd are taken from the record, and only where the control plane reports that etcd is healthy, or
 * that no more is wrong with it than that some of the members that are written down do not answer.
 */
function looksOf(
  machines: readonly { readonly name: MachineName; readonly role: DeclaredMachine["role"] }[],
  objects: readonly TalosMachine[],
  controlPlane: TalosControlPlane | undefined,
  facts: ClusterFacts | undefined,
  now: number,
): ReadonlyMap<MachineName, Look> {
  const objectOf = (name: MachineName): TalosMachine | undefined => objects.find(({ metadata }) => metadata.name === name);
  const running = machines.filter(({ name }) => isRunning(objectOf(name)));
  const missed = machines.flatMap(({ name }) => {
    const silent = silentAsTold(objectOf(name), now);
    return silent === undefined ? [] : [[name, silent] as const];
  });
  const etcd = findCondition(controlPlane?.status?.conditions, "EtcdHealthy");
  const isHealthy = etcd?.status === "True" || (etcd?.reason === "MemberMissing" && isOnlyMissed(machines, running, missed, facts));
  const members = machines
    .filter(({ name, role }) => role === "controlplane" && (isKnownMember(facts, name) || running.some((one) => one.name === name)))
    .map(({ name }) => ({ id: machineFact(facts, name)?.memberId ?? name, name, isLearner: false, peerUrls: [] }));
  // Where nobody told who leads, the first one is taken for it.
  const leader = (members.find(({ name }) => name === controlPlane?.status?.etcdLeader) ?? members[0])?.id;
  const etcdOf = (name: MachineName): SeenEtcd | undefined =>
    isHealthy
      ? { service: "Running", isHealthy: true, localMember: machineFact(facts, name)?.memberId ?? name, members, leader }
      : undefined;
  return new Map<MachineName, Look>([
    ...missed,
    ...running.map(({ name, role }): readonly [MachineName, Look] => {
      const object = objectOf(name);
      const ready = isConditionTrue(object?.status?.conditions, "Ready");
      const look: Look = {
        kind: "running",
        at: now,
        version: object?.status?.observedVersion,
        ...(object?.status?.nodeName === undefined ? {} : { nodeName: object.status.nodeName }),
        ...(object?.status?.observedSchematic === undefined ? {} : { schematic: object.status.observedSchematic }),
        ...(object?.status?.observedExtensions === undefined ? {} : { extensions: object.status.observedExtensions }),
        platform: machineFact(facts, name)?.platform ?? "metal",
        stage: "running",
        ready,
        unmet: ready ? [] : [{ name: "ready", reason: messageOf(object?.status?.conditions) }],
        etcd: role === "controlplane" ? etcdOf(name) : undefined,
      };
      return [name, look];
    }),
  ]);
}

/** The look at a machine that was reported as silent; `undefined` = it was not. */
function silentAsTold(object: TalosMachine | undefined, now: number): Silent | undefined {
  const told = findCondition(object?.status?.conditions, "Reachable");
  if (told?.reason !== "NoAnswer") return undefined;
  // A plan goes on until nothing more happens by itself: what is silent now stays so, past every grace.
  const since = Math.min(Date.parse(told.lastTransitionTime), now - SILENT_FOR_MS);
  return { kind: "silent", at: now, since, detail: "does not answer, as last reported" };
}

/** Every control plane that does not run was a member, and is silent: the others are the etcd that there is. */
function isOnlyMissed(
  machines: readonly Pick<DeclaredMachine, "name" | "role">[],
  running: readonly Pick<DeclaredMachine, "name">[],
  missed: readonly (readonly [MachineName, Look])[],
  facts: ClusterFacts | undefined,
): boolean {
  return machines.every(({ name, role }) => {
    if (role !== "controlplane" || !mayHoldConfig(machineFact(facts, name))) return true;
    const isThere = running.some((one) => one.name === name) || missed.some(([one]) => one === name);
    return isThere && isKnownMember(facts, name);
  });
}

function isKnownMember(facts: ClusterFacts | undefined, name: MachineName): boolean {
  const fact = machineFact(facts, name);
  return mayHoldConfig(fact) && fact.memberId !== undefined;
}

function isRunning(object: TalosMachine | undefined): boolean {
  return object?.status?.state === "Available" && isConditionTrue(object.status.conditions, "Reachable");
}

function messageOf(conditions: readonly Condition[] | undefined): string {
  return findCondition(conditions, "Ready")?.message ?? "";
}

/** What the edit changes in the configuration of each machine: the stored spec against the edited one, both rendered without keys. */
function configsOf(
  seen: Observed,
  stored: {
    readonly pools: readonly (TalosControlPlane | TalosWorker)[];
    readonly spec: TalosControlPlane["spec"];
    readonly configOf: ConfigOf;
  },
): ReadonlyMap<MachineName, SeenConfig> {
  const { machines, controlPlane, now } = seen;
  const facts = factsOf(seen);
  const { spec } = controlPlane;
  if (facts === undefined || spec === undefined || stored.spec === undefined) return new Map();
  const made = asMade(spec, facts);
  const madeBefore = asMade(stored.spec, facts);
  const moved = afterMove(facts, endpointWish(seen));
  const earlier = new Map(stored.pools.flatMap((pool) => declaredBy(pool, stored.configOf)).map((machine) => [machine.name, machine]));
  return new Map(
    machines.flatMap((machine): readonly (readonly [MachineName, SeenConfig])[] => {
      const { declared, look } = machine;
      const old = earlier.get(declared.name);
      const fact = machineFact(facts, declared.name);
      if (old === undefined || fact === undefined || look.kind !== "running") return [];
      const version = look.version ?? declared.version;
      const input = (
        { role, machineSpec, address }: DeclaredMachine,
        of: typeof made,
        endpoints: ClusterFacts,
      ): Parameters<typeof changesBetween>[1] => ({
        role,
        clusterName: controlPlane.metadata.name,
        endpoint: endpointOf(role, endpoints),
        kept: keptOf(role, endpoints),
        controlPlane: of,
        machineSpec,
        version,
        contract: fact.contract,
        readBy: undefined,
        platform: look.platform,
        installDisk: fact.installDisk,
        addresses: role === "controlplane" ? [...new Set([address, ...certificateHosts(endpoints)])] : [address],
        reachedAt: address,
      });
      const settings = configHashOf(declared, made, moved);
      // What cannot be rendered stands in the problems of the spec; what stays as it is needs no reading.
      const between = changesBetween(input(old, madeBefore, facts), input(declared, made, moved), version);
      // A machine that is upgraded is one that was read.
      const isRead = asksAnotherTalos(machine);
      if (between === undefined || (between.changes.length === 0 && between.withheld === undefined && !isRead)) return [];
      const activeHash = fact.appliedHash ?? "(as applied)";
      return [
        [
          declared.name,
          {
            kind: "known",
            at: now,
            settings,
            bootId: "(this boot)",
            version,
            activeHash,
            ...between,
            onDisk: between.changes.length === 0 ? "wanted" : "other",
          },
        ],
      ];
    }),
  );
}
