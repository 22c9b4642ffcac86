import { KubeApiError } from "@talos-operator/kube-runtime";
import { resourceKinds } from "@talos-operator/talos/client";
import { EffectError, isEffectError } from "../../../errors.ts";
import { LOOK_TIMEOUT_MS } from "../../../looking/look-at.ts";
import type { ClusterWorkload } from "../../../workload/cluster-workload.ts";
import { uncordon } from "../../../workload/cordon.ts";
import { deleteNodeObject } from "../../../workload/node-objects.ts";
import type { WorkloadPlace } from "../../../workload/workload-api.ts";
import { intentOn, machineFact } from "../record/facts.ts";
import { formerNodeOwner } from "../membership/node-owners.ts";
import type { SeenNode } from "../../../model/workload.ts";
import type { ClusterFacts } from "../../../model/record.ts";
import type { Action } from "../../../model/effect.ts";
import type { Effects } from "./ports.ts";

/** Begins the drain of a machine's Node, or keeps it going. It goes on after this returns. */
export function cordonAndDrain(action: Extract<Action, { readonly kind: "CordonAndDrain" }>, effects: Effects): void {
  const { session, log, guard } = effects;
  const { machine, address, ifUuid } = action;
  const request = { machine, address, uuid: ifUuid, why: `${effects.seen.controlPlane.metadata.name}/${machine}` };
  workloadOf(effects).ask(
    request,
    {
      // The machine itself says under which name it registers; the certificate on this connection proves that it is one of the cluster's.
      nodeName: async () => {
        const credentials = session.credentials();
        const client = credentials === undefined ? undefined : session.connections(machine)?.mutual(credentials);
        if (client === undefined) throw new EffectError("PRECONDITION_GONE", `${machine} is not watched`);
        return (await client.resources.get(resourceKinds.nodeName, undefined, { timeoutMs: LOOK_TIMEOUT_MS }))?.spec.nodeName;
      },
      demand: async () => {
        await effects.demandUnpaused(machine);
        try {
          return await guard.check((facts) => machineFact(facts, machine)?.uuid === ifUuid && intentOn(facts, machine) === undefined);
        } catch (thrown) {
          // No pass hears of it: the next one reads anew what was remembered wrongly.
          if (isEffectError(thrown, "RECORD_CHANGED")) session.record = undefined;
          throw thrown;
        }
      },
      log: log.child({ machine }),
    },
    placeOf(effects),
  );
}

/** Lists Nodes beside the passes. */
export function lookAtNodes(effects: Effects): void {
  workloadOf(effects).lookAtNodes(placeOf(effects), effects.log);
}

/** Takes our cordon off a machine that is ready again and that nothing is about to happen to. */
export async function uncordonNode(action: Extract<Action, { readonly kind: "Uncordon" }>, effects: Effects): Promise<void> {
  const { machine, node, address, ifUuid } = action;
  await tend(`Uncordon/${machine}`, effects, async (workload) => {
    const outcome = await workload.use({ kind: "node", name: node }, placeOf(effects), async (client, timeoutMs) => {
      const leftMs = await effects.guard.check((facts) => intentOn(facts, machine) === undefined);
      return uncordon(client, node, { uuid: ifUuid, address }, { timeoutMs: Math.min(timeoutMs, leftMs), signal: effects.signal });
    });
    workload.released(machine, node);
    effects.log.info({ action: "Uncordon", machine, node, reason: outcome }, "Took the cordon off");
  });
}

/** Deletes the Node object of a machine that was released; read live, and only while no kubelet keeps it. */
export async function deleteNode(action: Extract<Action, { readonly kind: "DeleteNode" }>, effects: Effects): Promise<void> {
  const { machine, node } = action;
  await tend(`DeleteNode/${machine}`, effects, async (workload) => {
    const wasDeleted = await workload.use({ kind: "nodes" }, placeOf(effects), async (client, timeoutMs) => {
      const live: ClusterFacts[] = [];
      const leftMs = await effects.guard.check((facts) => live.push(facts) > 0);
      const isItsNode = (seen: SeenNode): boolean => live.every((facts) => formerNodeOwner(facts, seen)?.name === machine);
      return deleteNodeObject(client, node, isItsNode, { timeoutMs: Math.min(timeoutMs, leftMs), signal: effects.signal });
    });
    workload.released(machine, node);
    if (wasDeleted)
      effects.event(effects.seen.controlPlane, "Reconciling", "DeleteNode", `Deleted the Node ${node} of ${machine}, which is released.`);
  });
}

/** Does it once; what the cluster's API does not answer is tried again later and fails no pass. */
async function tend(effect: string, effects: Effects, work: (workload: ClusterWorkload) => Promise<void>): Promise<void> {
  const workload = workloadOf(effects);
  effects.session.noteSent(effect, "unknown", "");
  try {
    await work(workload);
    effects.session.noteSent(effect, "answered", "");
  } catch (thrown) {
    if (!(thrown instanceof KubeApiError)) throw thrown;
    effects.log.debug({ action: effect, err: thrown.message }, "The cluster's own API did not do it; trying again later");
  } finally {
    workload.staleNodes();
  }
}

function workloadOf({ session }: Effects): ClusterWorkload {
  if (session.workload === undefined) throw new EffectError("PRECONDITION_GONE", "there is no client of the cluster's own API");
  return session.workload;
}

/** Where the cluster's own API is reached. */
export function placeOf(effects: Effects): WorkloadPlace {
  return {
    addresses: () => effects.session.runningControlPlanes().map(({ address }) => address),
    endpoint: effects.facts().endpoint,
    authority: async () => (await effects.bundle()).certs.k8s,
  };
}
