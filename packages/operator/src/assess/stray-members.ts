import { controlPlanesOf } from "./etcd-view.ts";
import { isMadeAnew } from "../observe/reported-machines.ts";
import { hostOf } from "../procedures/remove/removal.ts";
import { machineFact } from "../record/facts.ts";
import type { EtcdQuorum } from "../model/etcd.ts";
import type { EtcdMember } from "../model/look.ts";
import type { StrayMember } from "../model/assessment.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";

/**
 * Members of etcd that no machine of the cluster shows, that the record knows of no machine, and that are not somebody's who is on the way out. By the members' own
 * agreed list, which etcd reads from a quorum. Pure.
 *
 * A machine that might be it, because it has that address or does not tell what its own member is, keeps a member from being called a stray: names are no identity,
 * and silence is no answer.
 */
export function strayMembers(seen: Observed, facts: ClusterFacts, view: EtcdQuorum): readonly StrayMember[] {
  // A list that is empty makes nobody's member a stray.
  if (!seen.machines.some(({ declared }) => declared.role === "controlplane")) return [];
  const machines = controlPlanesOf(seen);
  const shown = new Set(machines.flatMap((machine) => ownOf(machine, view) ?? []));
  const unshown = view.members.filter(({ id }) => !shown.has(id));
  if (unshown.length === 0) return [];
  const known = new Map(facts.machines.flatMap(({ name, memberId }) => (memberId === undefined ? [] : [[memberId, name]])));
  return unshown.flatMap((member): readonly StrayMember[] => {
    const owner = machines.find(({ declared }) => declared.name === known.get(member.id));
    // Of one that shows another member now the record is behind: one machine has one member.
    if (known.has(member.id) && (owner === undefined || ownOf(owner, view) === undefined)) return [];
    const suspect = machines.find((machine) => mayBe(machine, facts, view, member));
    const place = seen.installed?.find(({ address }) => hasAddress(member, address));
    const mayBeOf = suspect?.declared.name ?? place?.name;
    if (mayBeOf !== undefined) return [{ member, mayBeOf }];
    return [isMadeAnew(facts) ? { member, isForgotten: true } : { member }];
  });
}

/** The member of the list that a machine shows as its own; `undefined` = it does not say. */
function ownOf({ look }: SeenMachine, { members }: EtcdQuorum): string | undefined {
  const own = look.kind === "running" ? look.etcd?.localMember : undefined;
  return members.some(({ id }) => id === own) ? own : undefined;
}

/** Nothing proves that this is not the machine's member. */
function mayBe(machine: SeenMachine, facts: ClusterFacts, view: EtcdQuorum, member: EtcdMember): boolean {
  const { declared, look } = machine;
  if (ownOf(machine, view) !== undefined) return false;
  const fact = machineFact(facts, declared.name);
  if (hasAddress(member, declared.address) || hasAddress(member, fact?.address ?? "")) return true;
  // Nothing is on one that waits to be configured.
  if (look.kind === "maintenance") return false;
  if (look.kind === "running" && look.etcd?.localMember === "none") return member.isLearner || member.name === "";
  const isElsewhere = fact?.memberId !== undefined && view.members.some(({ id }) => id === fact.memberId);
  return !isElsewhere;
}

function hasAddress({ peerUrls }: EtcdMember, address: string): boolean {
  return address !== "" && peerUrls.some((url) => hostOf(url) === address);
}
