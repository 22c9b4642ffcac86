import { annotations, machineNameFor, type ClusterRecord, type TalosMachine } from "@talos-operator/api";
import type { Datacenter, Machine } from "@talos-operator/simulator";
import type { Conditioned, ObjectView } from "../object-view.ts";

/** The kinds whose words are judged, parents last. */
const TOLD_PLURALS = ["talosmachines", "talosworkers", "taloscontrolplanes", "talosclusters", "kubernetesclusters"] as const;

type PoolPlural = "taloscontrolplanes" | "talosworkers";

/** An object with the fields of its status that people read. */
export type ToldObject = Conditioned & {
  readonly status?: {
    readonly state?: string;
    readonly phase?: string;
    readonly observedVersion?: string;
    readonly observedKubeVersion?: string;
    readonly observedGeneration?: number;
    readonly wantedMachines?: number;
    readonly readyMachines?: number;
    readonly machines?: string;
  };
};

/** A machine that an object names, beside what stands at its address. */
export interface ToldMachine {
  readonly name: string;
  readonly pool: string;
  readonly isControlPlane: boolean;
  /** Its pool's spec lists it. */
  readonly isListed: boolean;
  /** Talos that the spec asks for on it. */
  readonly asked: string | undefined;
  /** Its TalosMachine; absent before it is made and after it went. */
  readonly object: ToldObject | undefined;
  /** What stands at its address; `undefined` where nobody can say which machine is meant. */
  readonly truth: Machine | undefined;
  /** Its member of etcd has raised an alarm, some member has and nobody knows which, or its file has no room while some member has raised NOSPACE. */
  readonly isAlarmed: boolean;
  /** An effect on it stands open in the record: what, for example `Reset`. */
  readonly openEffect: string | undefined;
  /** The record has it as configured and not let go. */
  readonly isKnown: boolean;
  /** Its configuration was read from it once: it is past its installation. */
  readonly wasRead: boolean;
}

/** A TalosControlPlane or TalosWorker with its machines. */
export interface ToldPool {
  readonly plural: PoolPlural;
  readonly name: string;
  readonly object: ToldObject;
  readonly machines: readonly ToldMachine[];
}

/** Everything that a rule compares, made anew for each look. */
export interface Told {
  readonly pools: readonly ToldPool[];
  /** TalosClusters and KubernetesClusters. */
  readonly clusters: readonly ToldObject[];
  readonly machines: ReadonlyMap<string, ToldMachine>;
  /** Names of machines that were let go: what is said of them may stand for a while. */
  readonly former: ReadonlySet<string>;
  readonly record: ClusterRecord | undefined;
  readonly datacenter: Datacenter;
}

/** An alarm that is raised of nobody in particular names this member. */
const NOBODYS_ID = "0".repeat(16);

/** What a look is made from. */
export interface ToldInput {
  readonly objects: Pick<ObjectView, "get" | "all">;
  readonly datacenter: Datacenter;
  /** Which machine stands at an address, where it is another one than in the beginning. */
  readonly routes: ReadonlyMap<string, string>;
}

const nothing = { pools: [], clusters: [], machines: new Map<string, ToldMachine>(), former: new Set<string>(), record: undefined };

/** Joins objects, record and machines. One cluster for each world; nothing while any of its objects is to stand still. */
export function tellAll({ objects, datacenter, routes }: ToldInput): Told {
  const all = (plural: string): readonly ToldObject[] => objects.all(plural);
  if (TOLD_PLURALS.some((plural) => all(plural).some(isHeld))) return { ...nothing, datacenter };
  // Names, addresses and the record are those of one cluster: where a second one names its machines, nobody can say which is meant.
  if (["taloscontrolplanes", "clusterrecords"].some((plural) => all(plural).length > 1)) return { ...nothing, datacenter };
  const [record] = all("clusterrecords") as readonly unknown[] as readonly ClusterRecord[];
  const truths = new Map(datacenter.machines().map(({ address, state }) => [address, state]));
  const moved = new Set([...routes.keys(), ...routes.values()]);
  const truthAt = (address: string | undefined): Machine | undefined =>
    address === undefined || moved.has(address) ? undefined : truths.get(address);
  const alarmed = new Set(
    datacenter.etcdClusters().flatMap(({ key, members }) => {
      const database = datacenter.etcdDatabase(key);
      const alarms = database?.alarms() ?? [];
      const full = alarms.some(({ alarm }) => alarm === "NOSPACE")
        ? members.filter(({ id }) => database !== undefined && isFull(database.fileOf(id)))
        : [];
      return [...alarms.map(({ memberId }) => memberId), ...full.map(({ id }) => id)];
    }),
  );
  const objectsByName = new Map(all("talosmachines").map((object) => [object.metadata?.name ?? "", object]));
  const pools = (["taloscontrolplanes", "talosworkers"] as const).flatMap((plural) =>
    all(plural).map((object) => ({ plural, name: object.metadata?.name ?? "", object })),
  );
  const told = pools.map((pool): ToldPool => ({ ...pool, machines: machinesOf(pool, objectsByName, record, truthAt, alarmed) }));
  return {
    pools: told,
    clusters: [...all("talosclusters"), ...all("kubernetesclusters")],
    machines: new Map(told.flatMap(({ machines }) => machines.map((machine) => [machine.name, machine]))),
    former: new Set([...(record?.spec.knownControlPlanes ?? []), ...(record?.spec.knownWorkers ?? [])].map(({ name }) => name)),
    record,
    datacenter,
  };
}

/** As full as the operator calls one that has no room. */
function isFull({ sizeBytes, quotaBytes }: { readonly sizeBytes: number; readonly quotaBytes: number }): boolean {
  return sizeBytes >= 0.95 * quotaBytes;
}

function machinesOf(
  { plural, name, object }: Omit<ToldPool, "machines">,
  objectsByName: ReadonlyMap<string, ToldObject>,
  record: ClusterRecord | undefined,
  truthAt: (address: string | undefined) => Machine | undefined,
  alarmed: ReadonlySet<string>,
): readonly ToldMachine[] {
  const isControlPlane = plural === "taloscontrolplanes";
  const listed = listedMachines(name, object);
  const known = (isControlPlane ? record?.spec.knownControlPlanes : record?.spec.knownWorkers) ?? [];
  const facts = new Map(known.map((fact) => [fact.name, fact]));
  const intents = record?.spec.openControlPlaneIntent === undefined ? [] : [record.spec.openControlPlaneIntent];
  const open = new Map([...intents, ...(record?.spec.openWorkerIntents ?? [])].map((intent) => [intent.machine.name, intent.what]));
  const refersHere = (one: ToldObject): boolean => {
    const { controlPlaneRef, workerRef } = (one as TalosMachine).spec ?? {};
    return (isControlPlane ? controlPlaneRef : workerRef)?.name === name;
  };
  const own = [...objectsByName.values()].filter(refersHere).map(({ metadata }) => metadata?.name ?? "");
  const former = known
    .filter(
      ({ releasedAt, configuredAt, pool }) => releasedAt === undefined && configuredAt !== undefined && (isControlPlane || pool === name),
    )
    .map((fact) => fact.name);
  return [...new Set([...listed.keys(), ...own, ...former])].map((machine) => {
    const stored = objectsByName.get(machine);
    const fact = facts.get(machine);
    const endpoint = (stored as TalosMachine | undefined)?.spec?.endpoint;
    const truth = truthAt(fact?.address ?? endpoint);
    const member = truth?.etcd.data?.memberId;
    return {
      name: machine,
      pool: name,
      isControlPlane,
      isListed: listed.has(machine),
      asked: listed.get(machine),
      object: stored,
      truth,
      isAlarmed: member !== undefined && (alarmed.has(member) || alarmed.has(NOBODYS_ID)),
      openEffect: open.get(machine),
      isKnown: fact !== undefined && fact.configuredAt !== undefined && fact.releasedAt === undefined,
      wasRead: fact?.appliedHash !== undefined,
    };
  });
}

interface Listing {
  readonly version?: string;
  readonly metalSpec?: {
    readonly machines?: readonly {
      readonly address?: string;
      readonly machineRef?: { readonly name?: string };
      readonly version?: string;
    }[];
  };
}

/** Names of the machines that a pool lists, with the version that it asks for on each. */
function listedMachines(pool: string, { spec }: ToldObject): ReadonlyMap<string, string | undefined> {
  const { version: ofPool, metalSpec } = (spec ?? {}) as Listing;
  return new Map(
    (metalSpec?.machines ?? []).flatMap(({ address, machineRef, version = ofPool }): [string, string | undefined][] => {
      if (address !== undefined && address !== "") return [[machineNameFor(pool, { kind: "address", address }), version]];
      return machineRef?.name === undefined ? [] : [[machineNameFor(pool, { kind: "machineRef", name: machineRef.name }), version]];
    }),
  );
}

/** Somebody asked for its status to stand still, or for a plan alone. */
function isHeld({ metadata }: ToldObject): boolean {
  const mode = metadata?.annotations?.[annotations.reconcileMode];
  return mode !== undefined && mode !== "" && mode !== "reconcile";
}

/** `TalosWorker pool` */
export function nameOf({ kind, metadata }: ToldObject): string {
  return `${kind ?? ""} ${metadata?.name ?? ""}`;
}

/** The condition of an object, as it was told. */
export function conditionOf(object: ToldObject | undefined, type: string) {
  return object?.status?.conditions?.find((condition) => condition.type === type);
}

/** Nothing of it is listed, or its pool goes: the machine is on its way out. */
export function isGoing(machine: ToldMachine, pool: ToldPool): boolean {
  return !machine.isListed || pool.object.metadata?.deletionTimestamp !== undefined;
}

/** It answers as a machine of a cluster, and its boot is over. */
export function runs(truth: Machine): boolean {
  return answers(truth) && truth.api.kind === "configured" && truth.stage === "running";
}

/** Something listens there. */
export function answers({ power, isConnected, api }: Machine): boolean {
  return power === "on" && isConnected && api.kind !== "down";
}

/** It is a ready node, and a control plane runs etcd. */
export function isWell({ truth, isControlPlane }: ToldMachine): boolean {
  if (truth === undefined) return true;
  return runs(truth) && truth.kubernetes.isNodeReady && (!isControlPlane || truth.services["etcd"]?.state === "Running");
}

/** Machines that a text names, each once. */
export function namedIn(text: string, { machines }: Told): readonly ToldMachine[] {
  return [...wordsOf(text)].flatMap((word) => machines.get(word) ?? []);
}

/** Whether a text names any machine that there is, or was. */
export function namesAny(text: string, { machines, former }: Told): boolean {
  return [...wordsOf(text)].some((word) => machines.has(word) || former.has(word));
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(/[\s,;:()"'=/]+/).map((word) => word.replace(/\.+$/, "")));
}
