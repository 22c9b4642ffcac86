import { machineFact, withDecisions } from "../record/facts.ts";
import { hasStopped } from "../looking/look.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { ProbeTarget } from "../model/effect.ts";
import type { EtcdMember, SeenEtcd } from "../model/look.ts";

/** Control planes that are declared, and those that the record knows from before. */
export function controlPlanesOf(seen: Observed): readonly SeenMachine[] {
  return [...seen.machines, ...seen.former].filter((machine) => machine.declared.role === "controlplane");
}

/**
 * True when the machine may hold etcd data: a configuration may have been sent to it, or nobody knows,
 * because the keys are older than the record and the machine was not seen in maintenance mode.
 */
export function wasEverConfigured(facts: ClusterFacts, machine: SeenMachine): boolean {
  const fact = machineFact(facts, machine.declared.name);
  if (fact?.releasedAt !== undefined) return false;
  if (fact?.configuredAt !== undefined) return true;
  return facts.bundle.wasFound && machine.look.kind !== "maintenance";
}

/** Whom the send of a bootstrap asks again, in a stable order. */
export function probeTargets(seen: Observed, facts: ClusterFacts): readonly ProbeTarget[] {
  return controlPlanesOf(seen)
    .filter((machine) => machineFact(facts, machine.declared.name)?.releasedAt === undefined)
    .map((machine) => {
      const fact = machineFact(facts, machine.declared.name);
      return {
        machine: machine.declared.name,
        address: machine.declared.address,
        wasConfigured: wasEverConfigured(facts, machine),
        spki: fact?.spki,
        uuid: fact?.uuid ?? "",
      };
    });
}

/** etcd waits to be bootstrapped or joined, and the machine says that it has no member. */
export function waitsForEtcd(etcd: SeenEtcd | undefined): boolean {
  return etcd?.service === "Preparing" && etcd.localMember === "none" && etcd.hasData !== true;
}

/**
 * etcd has stopped, and its data directory is empty: a Bootstrap died with its caller, or the image could not be pulled. Nothing but a boot or another
 * Bootstrap starts it again. Only what the folder itself shows counts: an etcd that was taken out of its cluster has stopped as well, and keeps its data.
 */
export function stoppedWithoutData(etcd: SeenEtcd | undefined): boolean {
  return etcd !== undefined && hasStopped(etcd) && etcd.localMember === "none" && etcd.hasData === false;
}

/**
 * etcd neither runs nor waits to join, and has data: of a machine whose member has left the list it is what that member had, with which it never joins, and is started
 * again for ever.
 */
export function keepsOldData({ service, hasData }: SeenEtcd): boolean {
  return service !== undefined && service !== "Running" && service !== "Preparing" && hasData === true;
}

/** A control plane whose own member list contains itself: proof that etcd was bootstrapped, and with which members. */
export interface Founded {
  readonly machine: MachineName;
  readonly address: string;
  readonly members: readonly EtcdMember[];
}

/** The first control plane that proves that etcd exists, or `undefined`. */
export function foundedBy(machines: readonly Pick<SeenMachine, "declared" | "look">[]): Founded | undefined {
  for (const { declared, look } of machines) {
    if (look.kind !== "running" || look.etcd === undefined) continue;
    const { localMember, members } = look.etcd;
    if (localMember === undefined || localMember === "none" || members === undefined) continue;
    if (members.some((member) => member.id === localMember)) return { machine: declared.name, address: declared.address, members };
  }
  return undefined;
}

/** The facts with the proof that etcd was bootstrapped. Whose list shows it and who was asked may differ: the others join within moments. */
export function withFounded(facts: ClusterFacts, { machine, address }: Founded, now: number): ClusterFacts {
  const target = facts.bootstrapIntent ?? { machine, address, uuid: machineFact(facts, machine)?.uuid ?? "" };
  const evidence = `etcd is running on ${machine}.`;
  return withDecisions(
    { ...facts, bootstrapDone: { machine: target.machine, address: target.address, uuid: target.uuid, at: now, evidence } },
    { at: now, action: "Bootstrap", reason: "Founded", machine: target.machine, message: evidence },
  );
}
