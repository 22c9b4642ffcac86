import { indexOfMachines } from "../record/facts-index.ts";
import { identityOf } from "./identity.ts";
import { isOnlyReported } from "../observe/reported-machines.ts";
import type { Assessment } from "../model/assessment.ts";
import type { Hardware, InMaintenance, Running } from "../model/look.ts";
import type { DeclaredMachine, MachineName } from "../model/machine.ts";
import type { SeenMachine } from "../model/observation.ts";
import type { ClusterFacts, MachineFact } from "../model/record.ts";

/** Finds the other entry that leads to the same machine. */
export interface Twins {
  /** Of a machine that runs: the same etcd member, or hardware that the record knows under another name. */
  ofRunning(declared: DeclaredMachine, look: Running): MachineName | undefined;
  /** Of one that waits: the same key, UUID or hardware addresses. A UUID alone does not count: clones and some vendors share them. */
  ofWaiting(declared: DeclaredMachine, look: InMaintenance): MachineName | undefined;
}

interface Placed {
  readonly name: MachineName;
  /** In the order of declaration: of several twins the first is named. */
  readonly index: number;
  readonly look: InMaintenance | Running;
}

/** The twins among the machines of one observation. Each is found by what both show, so that a thousand machines cost one walk. */
export function twinsAmong({ seen, byName }: Assessment, facts: ClusterFacts): Twins {
  const members = new Map<string, Placed[]>();
  const keys = new Map<string, Placed[]>();
  const cards = new Map<string, Placed[]>();
  const note = (places: Map<string, Placed[]>, key: string | undefined, placed: Placed): void => {
    if (key === undefined) return;
    const there = places.get(key);
    if (there === undefined) places.set(key, [placed]);
    else there.push(placed);
  };
  for (const [index, { declared, look }] of seen.machines.entries()) {
    const placed = { name: declared.name, index, look };
    if (look.kind === "running") note(members, look.etcd?.localMember, { ...placed, look });
    if (look.kind !== "maintenance") continue;
    note(keys, look.spki, { ...placed, look });
    for (const mac of look.macs) note(cards, mac, { ...placed, look });
  }
  const known = (declared: DeclaredMachine, shown: Hardware): MachineName | undefined =>
    (shown.uuid === undefined ? [] : (indexOfMachines(facts).byUuid.get(shown.uuid) ?? [])).find(
      (other) =>
        other.name !== declared.name &&
        other.releasedAt === undefined &&
        (isSameHardware(shown, other) || isTold(facts, other, shown.uuid)) &&
        (byName.get(other.name)?.isListed === true || isLeaving(byName.get(other.name), declared)),
    )?.name;
  return {
    ofRunning(declared, { etcd, hardware }) {
      const member = etcd?.localMember;
      const shownBy =
        member === undefined || member === "none" ? undefined : members.get(member)?.find(({ name }) => name !== declared.name);
      return shownBy?.name ?? (hardware === undefined ? undefined : known(declared, hardware));
    },
    ofWaiting(declared, look) {
      const others = [
        ...(keys.get(look.spki) ?? []),
        ...look.macs
          .flatMap((mac) => cards.get(mac) ?? [])
          .filter((other) => other.look.kind === "maintenance" && isSameHardware(look, other.look)),
      ].filter(({ name }) => name !== declared.name);
      const [first] = others.toSorted((a, b) => a.index - b.index);
      return first?.name ?? known(declared, look);
    },
  };
}

/** One machine: the same UUID, which clones share, and a hardware address in common. */
function isSameHardware(a: Hardware, b: { readonly uuid: string | undefined; readonly macs: readonly string[] }): boolean {
  return a.uuid !== undefined && a.uuid === b.uuid && a.macs.some((mac) => b.macs.includes(mac));
}

/**
 * A worker that left the list under this name, as one does that moves to another pool, is being wiped: what is taken for running under its new name meanwhile
 * would then be found wiped, and wait for a person. Control planes are told apart by their member of etcd.
 */
export function isLeaving(other: (SeenMachine & { readonly isListed: boolean }) | undefined, { role }: DeclaredMachine): boolean {
  return role === "worker" && other !== undefined && !other.isListed && other.declared.role === "worker";
}

/** Nothing but its UUID is known of the machine, which nobody else had, and this is it. */
function isTold(facts: ClusterFacts, fact: MachineFact, uuid: string | undefined): boolean {
  return isOnlyReported(fact) && fact.macs.length === 0 && fact.uuid === uuid && identityOf(facts, fact) === "own";
}
