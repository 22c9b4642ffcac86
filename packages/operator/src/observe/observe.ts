import { bundleSecretName, canonicalAddress, findingsMessage, validateAddresses } from "@talos-operator/api";
import type { Finding, HostOptions, MachineAddress, ReconcileMode, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { KubeClient, ObjectKey } from "@talos-operator/kube-runtime";
import { endpointHost } from "../config/endpoint-host.ts";
import type { ConfigReferences, ResolvedConfig } from "../references/config-references.ts";
import type { AddressBook } from "../references/references.ts";
import { readAccess, readBundle, readClusterRecord, readGiven } from "./fresh-copies.ts";
import { whoElseHasKeys } from "../record/who-has-keys.ts";
import { provenLook, unaddressedLook } from "./proven-look.ts";
import { formerMachines } from "./former-machines.ts";
import { isMadeAnew, reportedLook } from "./reported-machines.ts";
import { unlistedWorkers } from "./unlisted-workers.ts";
import { poolContract } from "../spec/pool-contract.ts";
import { intentOn, machineFact, mayHoldConfig } from "../record/facts.ts";
import type { LookTarget } from "../looking/machine-watch.ts";
import type { ClusterSession } from "../reconcilers/cluster-session.ts";
import { checkWritten } from "../spec/check-written.ts";
import { machinesOf } from "../spec/declared.ts";
import { needsAddresses, rotatingMachines, withHazards } from "../spec/first-config.ts";
import { fixedPropertyProblems } from "../spec/fixed-properties.ts";
import { handMade } from "../spec/hand-made.ts";
import { inertFieldsOf } from "../spec/inert-fields.ts";
import { addressKnowledge, referencesOf } from "../spec/known-addresses.ts";
import { hasItsName, sharedNameProblems, sharedNames, withTakenName } from "../spec/machine-names.ts";
import { addressesElsewhere, addressesOf } from "../spec/places.ts";
import { sharedNodeNameProblems, sharedNodeNames, sharedNodeNameWords } from "../spec/node-names.ts";
import type { SharedNodeNames } from "../spec/node-names.ts";
import { concernsCluster, controlPlaneProblems, handMadeProblems, workerProblems } from "../spec/spec-problems.ts";
import type { Look } from "../model/look.ts";
import type { ConfigBase, DeclaredMachine, MachineName } from "../model/machine.ts";
import type { Observed, Seen, SeenMachine, SeenRecord } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { Cached, ObservePorts } from "./observe-ports.ts";

/** Looks at everything once, from the outside in: caches, record, keys, then what the watchers know of the machines. */
export async function observe(cached: Cached, session: ClusterSession, ports: ObservePorts): Promise<Observed> {
  const { controlPlane, mode, isUnread, workers, machineObjects } = cached;
  session.noticePass(ports.clock.now(), mode === "disable");
  const key: ObjectKey = { namespace: controlPlane.metadata.namespace ?? "", name: controlPlane.metadata.name };
  const book = await followReferences(cached, key, ports);
  const configs = await readConfigs(cached, ports.configs);
  const record = isUnread ? ({ kind: "unknown", detail: "paused" } as const) : await readClusterRecord(key, session, ports);
  const seenRecord = record.kind === "present" ? record.value : undefined;
  const facts = seenRecord?.facts;
  const { ownProblems, shared, pools, nodeNames } = problemsOfPools(cached, configs, facts, ports.hosts);

  const bundle = isUnread
    ? ({ kind: "unknown", detail: "paused" } as const)
    : await readBundle({ ...key, name: facts?.bundle.secretName ?? bundleSecretName(key.name, 1) }, session, ports);

  const given = record.kind === "absent" && bundle.kind === "absent" ? await readGiven(controlPlane, ports) : undefined;
  // Keys that were found and not made: somebody may have put another cluster's there.
  const keysElsewhere =
    record.kind === "absent" && bundle.kind === "present" && session.sent().get("CreateBundle")?.outcome !== "answered"
      ? await whoElseHasKeys(bundle.value.clusterId, key, ports.client)
      : undefined;

  const isGoing =
    controlPlane.metadata.deletionTimestamp !== undefined || workers.some((worker) => worker.metadata.deletionTimestamp !== undefined);
  // What is wrong with a spec keeps new machines away; those that are part of the cluster are looked at, and taken down, all the same.
  const knowledge = { ...addressKnowledge(cached, book, facts, ports.hosts), config: (object: string) => configs.get(object) };
  const admitted = (pool: TalosControlPlane | TalosWorker, problems: readonly Finding[]): readonly DeclaredMachine[] =>
    machinesOf(pool, knowledge).filter(
      (machine) =>
        isUsable(machine, ports.hosts) &&
        (problems.length === 0 || mayHoldConfig(machineFact(facts, machine.name)) || pool.metadata.deletionTimestamp !== undefined),
    );
  const everyone = [...admitted(controlPlane, ownProblems), ...pools.flatMap(({ worker, problems }) => admitted(worker, problems))];
  const nameless = everyone.filter((machine) => !hasItsName(machine, everyone, shared, facts));
  const composed = everyone
    .filter((machine) => !nameless.includes(machine))
    .map((machine) => withTakenName(machine, cached.nameHolder(machine.name)));
  const listed = [
    ...composed,
    ...handMade(machineObjects, composed, knowledge).map((machine) =>
      withOwnProblems(machine, controlPlane, ports.hosts, poolContract(facts, machine.owner)),
    ),
  ];
  const { declared, problems: writtenProblems } = await checkWritten(
    listed,
    {
      controlPlane,
      record: seenRecord,
      hasKeys: bundle.kind === "present" && bundle.value.isOurs && bundle.value.fingerprint === facts?.bundle.fingerprint,
    },
    session,
    ports,
  );
  const installed = facts === undefined || isMadeAnew(facts) ? cached.installed() : [];
  const former = formerMachines(declared, seenRecord, { ...cached, installed });
  // In a burst of new clusters keys are made one after another: nobody is looked at for a cluster whose turn has not come.
  const watched = session.accountKey.isBeingMade() ? [] : [...declared, ...former];
  const isAtMachine =
    facts !== undefined && facts.bootstrapDone === undefined && facts.bootstrapIntent === undefined && isMachine(facts.endpoint, declared);
  const targets = watched
    .filter(({ address }) => address !== "")
    .map((machine) => {
      const fact = machineFact(facts, machine.name);
      return {
        name: machine.name,
        address: machine.address,
        role: machine.role,
        mayBeConfigured: mayHoldConfig(fact),
        ...questionsFor(machine, { controlPlane, isAtMachine, isNew: !mayHoldConfig(fact) }),
      };
    });
  if (!isUnread && record.kind === "absent" && bundle.kind === "absent") session.watchInTurn(targets);
  else if (!isUnread) session.machines.watch(targets);
  const believed = (machine: DeclaredMachine): Look => {
    const now = ports.clock.now();
    if (machine.address === "") return unaddressedLook(now);
    const look = session.machines.look(machine.name);
    return facts === undefined ? reportedLook(machineObjects, machine, look, now) : provenLook(facts, machine, look);
  };
  const see = (machine: DeclaredMachine): SeenMachine => {
    const look = believed(machine);
    return { declared: look.kind === "maintenance" ? withHazards(machine, look, controlPlane, facts) : machine, look };
  };
  const isFounded = facts?.bootstrapDone !== undefined;
  const machines = declared.map(see);
  const access = isFounded && mode !== "disable" ? await readAccess(controlPlane, session, ports) : undefined;

  return {
    now: ports.clock.now(),
    watchedSince: session.since,
    controlPlane,
    mode,
    ...(cached.unknownMode === undefined ? {} : { unknownMode: cached.unknownMode }),
    workers,
    machineObjects,
    ...(installed.length === 0 ? {} : { installed }),
    machines,
    former: former.map(see),
    ...(controlPlane.metadata.deletionTimestamp !== undefined
      ? { unlisted: await unlistedWorkers(former, workers, key.namespace ?? "", ports.client) }
      : {}),
    problems: [
      ...ownProblems,
      ...(nameless.some(({ role }) => role === "controlplane") ? sharedNameProblems(controlPlane, shared) : []),
      ...writtenProblems,
      ...endpointProblems(cached.endpointElsewhere, record),
      ...(isFounded
        ? []
        : pools.flatMap(({ worker, problems }) =>
            problems.filter(concernsCluster).map((one) => ({ ...one, field: `TalosWorker/${worker.metadata.name} ${one.field}` })),
          )),
    ],
    ...soundnessOf(pools, nodeNames),
    inertFields: inertFieldsOf(controlPlane),
    record,
    bundle,
    ...(given === undefined ? {} : { given }),
    ...(keysElsewhere === undefined ? {} : { keysElsewhere }),
    kubeconfig: access?.kubeconfig ?? { kind: "unknown", detail: "not asked" },
    talosconfig: access?.talosconfig ?? { kind: "unknown", detail: "not asked" },
    namespaceIsTerminating: isGoing || former.length > 0 ? await isGoingAway(key.namespace ?? "", ports.client) : undefined,
    ...session.remembered(),
    ...workloadOf(mode, facts, session),
    ...(isFounded ? certificatesOf(machines, controlPlane, facts, session) : {}),
    isParentGoing: cached.isParentGoing,
    mayDisturb: ports.mayDisturb,
    ...ports.machineRules,
  };
}

/** What a machine is asked beside what all are asked. */
function questionsFor(
  machine: DeclaredMachine,
  { controlPlane: { spec }, isAtMachine, isNew }: Pick<Cached, "controlPlane"> & { readonly isAtMachine: boolean; readonly isNew: boolean },
): Pick<LookTarget, "needsDiscovery" | "needsAddresses"> {
  return {
    // Who can join an etcd that does not begin at the endpoint.
    ...(isAtMachine && machine.role === "controlplane" ? { needsDiscovery: true } : {}),
    ...(isNew && spec !== undefined && needsAddresses(machine, spec) ? { needsAddresses: true } : {}),
  };
}

/** Which pools have something wrong in them, and which machines would share the names of their Nodes. */
function soundnessOf(
  pools: ReturnType<typeof problemsOfPools>["pools"],
  nodeNames: SharedNodeNames,
): Pick<Observed, "unsoundPools" | "sharedNodeNames"> {
  return {
    ...(nodeNames.size === 0 ? {} : { sharedNodeNames: sharedNodeNameWords(nodeNames) }),
    unsoundPools: pools.flatMap(({ worker, problems }) => (problems.length === 0 ? [] : [worker.metadata.name])),
  };
}

/** The endpoint is the own address of a control plane. */
function isMachine(endpoint: string, declared: readonly DeclaredMachine[]): boolean {
  const host = canonicalAddress(endpointHost(endpoint) ?? "");
  return declared.some(({ role, address }) => role === "controlplane" && address !== "" && canonicalAddress(address) === host);
}

/** Told while the cluster is not bootstrapped: what runs has shown that its endpoint leads to it, and it can have no other. */
function endpointProblems(elsewhere: string | undefined, record: Seen<SeenRecord>): readonly Finding[] {
  const isFounded = record.kind === "unknown" || (record.kind === "present" && record.value.facts.bootstrapDone !== undefined);
  if (elsewhere === undefined || isFounded) return [];
  return [
    {
      field: "spec.endpoint",
      message: `it is ${elsewhere}`,
      remedy: "Name an address of this cluster's own control planes, or one that leads to them",
      reason: "DuplicateAddress",
    },
  ];
}

/** What `configRef` of the control plane, its pools and machines made by hand gives. */
async function readConfigs(
  { controlPlane, workers, machineObjects }: Cached,
  configs: ConfigReferences,
): Promise<ReadonlyMap<string, ResolvedConfig>> {
  const asking = [controlPlane, ...workers, ...machineObjects].filter(({ spec }) => (spec?.configRef?.name ?? "") !== "");
  const answers = await Promise.all(
    asking.map(({ spec, metadata }) => configs.resolve(spec?.configRef, metadata.namespace ?? controlPlane.metadata.namespace ?? "")),
  );
  return new Map(
    asking.flatMap(({ kind, metadata }, index) => (answers[index] === undefined ? [] : [[`${kind}/${metadata.name}`, answers[index]]])),
  );
}

function baseOf(resolved: ResolvedConfig | undefined): ConfigBase | undefined {
  return resolved?.kind === "base" ? resolved.base : undefined;
}

/** What the references of all pools of the cluster give. */
async function followReferences({ controlPlane, workers }: Cached, key: ObjectKey, ports: ObservePorts): Promise<AddressBook> {
  const asker = { id: `brain ${key.namespace ?? ""}/${key.name}`, wake: ports.wake };
  return ports.references.follow(asker, [controlPlane, ...workers].flatMap(referencesOf), key.namespace ?? "");
}

/** What is wrong with the specs of the control plane and of each pool. */
function problemsOfPools(
  cached: Cached,
  configs: ReadonlyMap<string, ResolvedConfig>,
  facts: ClusterFacts | undefined,
  hosts: ObservePorts["hosts"],
): {
  readonly ownProblems: readonly Finding[];
  readonly shared: ReturnType<typeof sharedNames>;
  readonly nodeNames: SharedNodeNames;
  readonly pools: readonly { readonly worker: TalosWorker; readonly problems: readonly Finding[] }[];
} {
  const { controlPlane, workers } = cached;
  const contractOf = ({ kind, metadata, status }: TalosControlPlane | TalosWorker): string | undefined =>
    facts === undefined ? status?.configContract : poolContract(facts, { kind, name: metadata.name });
  const configOf = ({ kind, metadata }: TalosControlPlane | TalosWorker): ResolvedConfig | undefined =>
    configs.get(`${kind}/${metadata.name}`);
  const shared = sharedNames([controlPlane, ...workers]);
  const named = [controlPlane, ...workers].map((pool) => ({ pool, config: configOf(pool), contract: contractOf(pool) }));
  const nodeNames = sharedNodeNames(named, controlPlane);
  const holds = (name: MachineName): boolean => mayHoldConfig(machineFact(facts, name));
  return {
    ownProblems: [
      ...controlPlaneProblems(controlPlane, placesElsewhere(cached), hosts, configOf(controlPlane), contractOf(controlPlane)),
      ...fixedPropertyProblems(controlPlane, facts, baseOf(configOf(controlPlane))),
      ...sharedNodeNameProblems(controlPlane, nodeNames, holds),
    ],
    shared,
    nodeNames,
    pools: workers.map((worker) => ({
      worker,
      problems: [
        ...workerProblems(worker, controlPlane, siblingAddresses(worker, cached), hosts, configOf(worker), contractOf(worker)),
        ...sharedNameProblems(worker, shared),
        ...sharedNodeNameProblems(worker, nodeNames, holds),
      ],
    })),
  };
}

/** A TalosMachine made by hand, with what is wrong with its version or patches: it concerns that machine alone. */
function withOwnProblems(
  machine: DeclaredMachine,
  controlPlane: TalosControlPlane,
  options: HostOptions,
  contract: string | undefined,
): DeclaredMachine {
  const [finding] = machine.problem === undefined ? handMadeProblems(machine, controlPlane, options, contract) : [];
  if (finding === undefined) return machine;
  return { ...machine, problem: { reason: finding.reason, message: findingsMessage([finding]) } };
}

/** False for an address that no machine can have: nobody is to be asked there. */
function isUsable(machine: DeclaredMachine, hosts: HostOptions): boolean {
  // A reference that gives nothing usable is said of the machine; the machine stays part of the cluster.
  return machine.reference !== undefined || validateAddresses([{ field: machine.field, address: machine.address }], hosts).length === 0;
}

/** Drains and Nodes. What is paused is not drained either; a machine whose effect stands in the record is past its drain. */
function workloadOf(
  mode: ReconcileMode,
  facts: ClusterFacts | undefined,
  { workload }: ClusterSession,
): Pick<Observed, "drains" | "nodes" | "ahead"> {
  if (workload === undefined) return {};
  for (const name of workload.drains().keys())
    if (mode !== "reconcile" || machineFact(facts, name) === undefined || intentOn(facts, name) !== undefined) workload.forget(name);
  return { drains: workload.drains(), nodes: workload.nodes(), ahead: workload.ahead() };
}

/** Certificates that kubelets wait for, where any of them asks. */
function certificatesOf(
  machines: readonly SeenMachine[],
  controlPlane: TalosControlPlane,
  facts: ClusterFacts,
  { certificates }: ClusterSession,
): Pick<Observed, "certificates"> {
  if (certificates === undefined) return {};
  if (rotatingMachines(machines, controlPlane, facts).size > 0) return { certificates: certificates.seen() };
  certificates.forget();
  return {};
}

/** Addresses that a worker pool must not share: other pools of the cluster, and other clusters. */
function siblingAddresses(worker: TalosWorker, cached: Cached): ReturnType<typeof addressesOf> {
  return [
    ...cached.workers.filter((other) => other.metadata.name !== worker.metadata.name).flatMap((pool) => addressesOf(pool)),
    ...placesElsewhere(cached),
  ];
}

/** Where other, older clusters have machines of which we list one. */
function placesElsewhere({ controlPlane, otherPools, otherMachines }: Cached): readonly MachineAddress[] {
  return [...otherPools.flatMap((pool) => addressesElsewhere(pool, controlPlane?.metadata.namespace)), ...otherMachines];
}

/** Read live: a wipe in a namespace that goes away needs a person's word. `undefined` when nobody could say. */
async function isGoingAway(namespace: string, client: KubeClient): Promise<boolean | undefined> {
  const names = ["taloscontrolplanes.talos.alperen.cloud", "talosworkers.talos.alperen.cloud", "talosmachines.talos.alperen.cloud"];
  const crd = {
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
  };
  const namespaces = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
  try {
    const objects = await Promise.all([
      client.resource(namespaces).tryGet({ name: namespace }),
      ...names.map((name) => client.resource(crd).tryGet({ name })),
    ]);
    return objects.some((object) => object?.metadata?.deletionTimestamp !== undefined);
  } catch {
    // Unknown forbids a wipe; the rule says so to people.
    return undefined;
  }
}
