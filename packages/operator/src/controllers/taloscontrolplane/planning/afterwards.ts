import { createHash } from "node:crypto";
import { finalizers as ours } from "@talos-operator/api";
import { wantedDisk } from "../../../config/wanted-disk.ts";
import { afterwardsOnMachines, withoutMember } from "./afterwards-machines.ts";
import { afterwardsOnNodes, withoutKubelet } from "./afterwards-nodes.ts";
import { waitsForEtcd } from "../membership/etcd-view.ts";
import { factsOf, machineFact } from "../record/facts.ts";
import type { EtcdMember, InMaintenance, Look, Running, SeenEtcd } from "../../../model/look.ts";
import type { Action } from "../../../model/effect.ts";
import type { DeclaredMachine, MachineName } from "../../../model/machine.ts";
import type { Observed, SeenMachine } from "../../../model/observation.ts";

/** Stands for the disk that is chosen when the machine lists its disks. */
const ANY_DISK = "/dev/sd?";

/** How long access Secrets that were written now would last. */
const YEAR_MS = 365 * 24 * 3_600_000;

/** What would be seen after an action that goes as it should; `undefined` where nobody can say without looking. Pure. */
export function afterwards(seen: Observed, action: Action): Observed | undefined {
  switch (action.kind) {
    case "AddFinalizer":
      if (action.object.kind === "TalosMachine")
        return { ...seen, machineObjects: seen.machineObjects.map((object) => guarded(object, action.object.name)) };
      if (action.object.kind === "TalosWorker")
        return { ...seen, workers: seen.workers.map((pool) => withGuard(pool, action.object.name)) };
      return withFinalizers(seen, (finalizers) => [...finalizers, ...missingFinalizer(finalizers)]);
    case "RemoveFinalizer":
      return action.object.kind === "TalosWorker" ? withoutPool(seen, action.object.name) : undefined;
    case "CreateMachine":
      return { ...seen, machineObjects: [...seen.machineObjects, objectOf(seen, action.machine)] };
    case "DeleteMachine":
      return { ...seen, machineObjects: seen.machineObjects.filter((object) => object.metadata.name !== action.name) };
    case "CreateBundle":
      return {
        ...seen,
        bundle: { kind: "present", value: { fingerprint: "to be made", clusterId: "to be made", isOurs: true, isDeleting: false } },
        sent: new Map([...seen.sent, ["CreateBundle", { at: seen.now, outcome: "answered", detail: "" }]]),
      };
    case "TakeBundle":
      return {
        ...seen,
        bundle: {
          kind: "present",
          value: {
            fingerprint: action.ifFingerprint,
            clusterId: seen.adoption?.places?.[0]?.clusterId ?? "",
            isOurs: true,
            isDeleting: false,
          },
        },
      };
    case "WriteRecord": {
      const metadata = seen.record.kind === "present" ? seen.record.value.metadata : { name: seen.controlPlane.metadata.name };
      const resourceVersion = `${seen.record.kind === "present" ? seen.record.value.resourceVersion : "0"}+`;
      const { adoption: _taken, ...rest } = seen;
      return { ...rest, record: { kind: "present", value: { resourceVersion, metadata, facts: action.facts } } };
    }
    case "ConfigureMachine":
      return settled(withLook(seen, action.machine.name, configuredLook(seen, action.machine)));
    case "BootstrapEtcd":
      return settled(withLook(seen, action.machine, runningLook(seen, { role: "controlplane", etcd: memberOf(action.machine, []) })));
    case "WriteKubeconfig":
      return { ...seen, kubeconfig: { kind: "present", value: { expiresAt: seen.now + YEAR_MS, isOurs: true } } };
    case "WriteTalosconfig":
      return { ...seen, talosconfig: { kind: "present", value: { expiresAt: seen.now + YEAR_MS, isOurs: true } } };
    case "ResetMachine": {
      // A graceful one leaves etcd by itself before it is wiped.
      const left = action.isGraceful === true ? withoutMember(seen, action.machine) : seen;
      return withoutKubelet(settled(lookedAgain(withLook(left, action.machine, wipedLook(left, action.machine)))), action.machine);
    }
    case "AnswerAnnotation": {
      const { [action.annotation]: _, ...annotations } = seen.controlPlane.metadata.annotations ?? {};
      return { ...seen, controlPlane: { ...seen.controlPlane, metadata: { ...seen.controlPlane.metadata, annotations } } };
    }
    case "DeleteRecord":
      return { ...seen, record: { kind: "absent" } };
    case "DeleteBundle":
      return { ...seen, bundle: { kind: "absent" } };
    case "TendCertificates":
      return { ...seen, certificates: { at: seen.now, isAsking: false, pending: seen.certificates?.pending ?? [] } };
    case "CordonAndDrain":
    case "LookAtNodes":
    case "Uncordon":
    case "DeleteNode":
      return afterwardsOnNodes(seen, action);
    case "LeaveEtcd":
    case "ForfeitLeadership":
    case "RemoveMember":
    case "ApplyConfig":
    case "KeepConfig":
    case "RebootMachine":
    case "WriteMeta":
      return afterwardsOnMachines(seen, action);
    case "FollowEndpoint":
      return {
        ...seen,
        machineObjects: seen.machineObjects.map((object) =>
          object.metadata.name === action.name && object.spec !== undefined
            ? { ...object, spec: { ...object.spec, endpoint: action.to } }
            : object,
        ),
      };
    default:
      // An effect whose end depends on what the machine shows then.
      return undefined;
  }
}

/** The same world with a machine that was not heard of waiting in maintenance mode, as the plan assumes. */
export function asIfBooted(seen: Observed, machine: SeenMachine): Observed {
  const disk = wantedDisk(machine.declared.machineSpec) ?? ANY_DISK;
  const look: InMaintenance = {
    kind: "maintenance",
    at: seen.now,
    since: seen.now,
    spki: `(the key that ${machine.declared.name} shows then)`,
    version: machine.declared.version,
    platform: "metal",
    uuid: undefined,
    macs: [],
    disks: [{ path: disk, sizeBytes: 64e9, transport: "", isReadOnly: false, isCdrom: false, foreignContent: [] }],
  };
  return withoutSelector(withLook(seen, machine.declared.name, look), machine.declared.name);
}

/** Which disk a selector finds is known when the machine lists its disks: until then the plan takes any. */
function withoutSelector(seen: Observed, name: MachineName): Observed {
  return {
    ...seen,
    machines: seen.machines.map((machine) => {
      if (machine.declared.name !== name) return machine;
      const { diskSelector: _selector, ...machineSpec } = machine.declared.machineSpec;
      return { ...machine, declared: { ...machine.declared, machineSpec } };
    }),
  };
}

function withLook(seen: Observed, name: MachineName, look: Look): Observed {
  const replace = (machine: SeenMachine): SeenMachine => (machine.declared.name === name ? { ...machine, look } : machine);
  return { ...seen, machines: seen.machines.map(replace), former: seen.former.map(replace) };
}

/** What others tell of the members of etcd, they tell after the machine was wiped. */
function lookedAgain(seen: Observed): Observed {
  const again = (machine: SeenMachine): SeenMachine =>
    machine.look.kind === "running" ? { ...machine, look: { ...machine.look, at: seen.now } } : machine;
  return { ...seen, machines: seen.machines.map(again), former: seen.former.map(again) };
}

function configuredLook(seen: Observed, machine: DeclaredMachine): Look {
  return runningLook(seen, { role: machine.role, version: machine.version, etcd: preparing });
}

function runningLook(
  seen: Observed,
  of: { readonly role: DeclaredMachine["role"]; readonly version?: string; readonly etcd: SeenEtcd },
): Running {
  return {
    kind: "running",
    at: seen.now,
    version: of.version,
    platform: "metal",
    stage: "running",
    ready: true,
    unmet: [],
    etcd: of.role === "controlplane" ? of.etcd : undefined,
  };
}

function wipedLook(seen: Observed, name: MachineName): Look {
  const fact = machineFact(factsOf(seen), name);
  return {
    kind: "maintenance",
    at: seen.now,
    since: seen.now,
    spki: `(the key that ${name} shows then)`,
    version: undefined,
    platform: fact?.platform,
    uuid: fact?.uuid === "" ? undefined : fact?.uuid,
    macs: fact?.macs ?? [],
    disks: undefined,
  };
}

const preparing: SeenEtcd = { service: "Preparing", isHealthy: false, localMember: "none", members: undefined, leader: undefined };

function memberOf(name: MachineName, members: readonly EtcdMember[]): SeenEtcd {
  const id = idOf(name);
  return {
    service: "Running",
    isHealthy: true,
    localMember: id,
    members: members.length > 0 ? members : [{ id, name, isLearner: false, peerUrls: [] }],
    leader: members[0]?.id ?? id,
  };
}

/** Every control plane that waits for a bootstrapped etcd joins it, and one that was wiped is no member any more. */
function settled(seen: Observed): Observed {
  const all = [...seen.machines, ...seen.former];
  const isMember = ({ look }: SeenMachine): boolean =>
    look.kind === "running" && look.etcd !== undefined && look.etcd.localMember !== "none" && look.etcd.localMember !== undefined;
  if (!all.some(isMember)) return seen;
  const known = all.flatMap(({ look }) => (look.kind === "running" ? (look.etcd?.members ?? []) : []));
  const joining = all.filter(({ look }) => look.kind === "running" && waitsForEtcd(look.etcd));
  const gone = new Set(
    all
      .filter(({ look }) => look.kind === "maintenance")
      .flatMap(({ declared }) => [idOf(declared.name), ...idsUnderName(known, declared)]),
  );
  const members = [
    ...new Map([
      ...known.map((member) => [member.id, member] as const),
      ...joining.map(
        ({ declared }) => [idOf(declared.name), { id: idOf(declared.name), name: declared.name, isLearner: false, peerUrls: [] }] as const,
      ),
    ]).values(),
  ].filter((member) => !gone.has(member.id));
  const leaderOf = (told: string | undefined): string | undefined => (members.some((member) => member.id === told) ? told : members[0]?.id);
  const together = (machine: SeenMachine): SeenMachine => {
    const { look, declared } = machine;
    if (look.kind !== "running" || look.etcd === undefined) return machine;
    if (waitsForEtcd(look.etcd)) return { declared, look: { ...look, etcd: memberOf(declared.name, members) } };
    return isMember(machine)
      ? { declared, look: { ...look, etcd: { ...look.etcd, members, leader: leaderOf(look.etcd.leader) } } }
      : machine;
  };
  return { ...seen, machines: seen.machines.map(together), former: seen.former.map(together) };
}

/** Members that stand for this machine by the address of their peers. */
function idsUnderName(members: readonly EtcdMember[], { address }: DeclaredMachine): readonly string[] {
  return members.filter(({ peerUrls }) => peerUrls.some((url) => url.includes(`//${address}:`))).map(({ id }) => id);
}

function idOf(name: MachineName): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 16);
}

function objectOf({ controlPlane }: Observed, { name, address, version, owner }: DeclaredMachine): Observed["machineObjects"][number] {
  const reference = { name: owner.name, namespace: controlPlane.metadata.namespace ?? "" };
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosMachine",
    metadata: { name, finalizers: [ours.talosMachine] },
    spec: { endpoint: address, version, ...(owner.kind === "TalosWorker" ? { workerRef: reference } : { controlPlaneRef: reference }) },
  };
}

function guarded(object: Observed["machineObjects"][number], name: string): Observed["machineObjects"][number] {
  if (object.metadata.name !== name) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...(object.metadata.finalizers ?? []), ours.talosMachine] } };
}

function withFinalizers(seen: Observed, change: (finalizers: readonly string[]) => readonly string[]): Observed {
  const { metadata } = seen.controlPlane;
  return { ...seen, controlPlane: { ...seen.controlPlane, metadata: { ...metadata, finalizers: change(metadata.finalizers ?? []) } } };
}

function missingFinalizer(finalizers: readonly string[]): readonly string[] {
  return finalizers.includes(ours.talosControlPlane) ? [] : [ours.talosControlPlane];
}

/** The pool is gone, and what it lists with it. */
function withoutPool(seen: Observed, pool: string): Observed {
  const isOf = ({ declared: { owner } }: SeenMachine): boolean => owner.kind === "TalosWorker" && owner.name === pool;
  return {
    ...seen,
    workers: seen.workers.filter(({ metadata }) => metadata.name !== pool),
    machines: seen.machines.filter((machine) => !isOf(machine)),
  };
}

function withGuard(pool: Observed["workers"][number], name: string): Observed["workers"][number] {
  if (pool.metadata.name !== name) return pool;
  return { ...pool, metadata: { ...pool.metadata, finalizers: [...(pool.metadata.finalizers ?? []), ours.talosWorker] } };
}
