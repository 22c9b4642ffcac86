import { createHash } from "node:crypto";
import { wantedDisk } from "../config/wanted-disk.ts";
import { waitsForEtcd } from "../assess/etcd-view.ts";
import { factsOf, machineFact } from "../record/facts.ts";
import type { EtcdMember, InMaintenance, Look, Running, SeenEtcd } from "../model/look.ts";
import type { DeclaredMachine, MachineName } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";

/** Stands for the disk that is chosen when the machine lists its disks. */
const ANY_DISK = "/dev/sd?";

/** The disk of a step, for people. */
export function diskWords(disk: string | undefined): string {
  return disk === ANY_DISK ? "a disk it does not report yet" : (disk ?? "no disk");
}

/** How long access Secrets that were written now would last. */
export const YEAR_MS = 365 * 24 * 3_600_000;

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

/** The machine shows itself like this. */
export function withLook(seen: Observed, name: MachineName, look: Look): Observed {
  const replace = (machine: SeenMachine): SeenMachine => (machine.declared.name === name ? { ...machine, look } : machine);
  return { ...seen, machines: seen.machines.map(replace), former: seen.former.map(replace) };
}

/** What others tell of the members of etcd, they tell after the machine was wiped. */
export function lookedAgain(seen: Observed): Observed {
  const again = (machine: SeenMachine): SeenMachine =>
    machine.look.kind === "running" ? { ...machine, look: { ...machine.look, at: seen.now } } : machine;
  return { ...seen, machines: seen.machines.map(again), former: seen.former.map(again) };
}

/** A machine that runs with its first configuration. */
export function configuredLook(seen: Observed, machine: DeclaredMachine): Look {
  return runningLook(seen, { role: machine.role, version: machine.version, etcd: preparing });
}

/** A machine that runs. */
export function runningLook(
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

/** A machine that waits in maintenance mode after it was wiped. */
export function wipedLook(seen: Observed, name: MachineName): Look {
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

/** etcd as a member of it shows itself. */
export function memberOf(name: MachineName, members: readonly EtcdMember[]): SeenEtcd {
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
export function settled(seen: Observed): Observed {
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
