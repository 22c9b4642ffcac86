import { kstatus } from "@talos-operator/operator/testing";
import type { TalosDialer } from "@talos-operator/ports";
import { withCalls } from "../world/with-calls.ts";
import { mutating } from "./interruption.ts";
import { kinds } from "./story.ts";
import type { Conditioned, Story } from "./story.ts";

/** A change of a machine that was sent while an object which contains the machine read as finished, or as of an earlier spec. */
export interface CalledFinished {
  /** `Reset 10.5.0.4`. */
  readonly call: string;
  /** `TalosCluster demo: Current`. */
  readonly objects: readonly string[];
}

/** It stops a member for as long as it takes. */
const defragments = /\/(EtcdDefragment)$/;

/**
 * A dialer that reads, before each call which changes a machine, every object that contains the machine: none may read as finished by then, and each edit must
 * have been answered.
 */
export function watchFinished(worldOf: () => Story, found: CalledFinished[]): (real: TalosDialer) => TalosDialer {
  return (real) =>
    withCalls(real, ({ address, channel }) => ({
      async unary(method, request, options) {
        const [, name] = mutating.exec(method.path) ?? defragments.exec(method.path) ?? [];
        if (name !== undefined) {
          const objects = await finishedObjects(worldOf(), address);
          if (objects.length > 0) found.push({ call: `${name} ${address}`, objects });
        }
        return channel.unary(method, request, options);
      },
    }));
}

/** Objects with this machine that nobody would wait for. */
async function finishedObjects(world: Story, address: string): Promise<readonly string[]> {
  const machines = (await world.client.resource<Conditioned>(kinds.machine).list()).items;
  const machine = machines.find(({ spec }) => spec?.["endpoint"] === address);
  const pool = (machine?.spec?.["workerRef"] as { readonly name?: string } | undefined)?.name;
  const lists = [kinds.cluster, kinds.kubernetesCluster, kinds.controlPlane, kinds.worker].map(async (type) => {
    const { items } = await world.client.resource<Conditioned>(type).list();
    return items.filter(({ metadata }) => type !== kinds.worker || metadata?.name === pool);
  });
  return (await Promise.all(lists)).flat().flatMap((object) => {
    const { kind = "", metadata, status } = object;
    const said = isAnswered(object) ? kstatus(object) : "not answered";
    const told = (wanted: string): string => {
      const condition = status?.conditions?.find(({ type }) => type === wanted);
      return condition === undefined ? "absent" : `${condition.status} (${condition.reason})`;
    };
    const isFinished = said === "Current" || said === "not answered" || (said !== "Terminating" && told("Progressing").startsWith("False"));
    return isFinished ? [`${kind} ${metadata?.name ?? ""}: ${said}, Ready ${told("Ready")}, Progressing ${told("Progressing")}`] : [];
  });
}

/** Its newest spec was read, or nothing was said of it before. */
function isAnswered({ metadata, status }: Conditioned): boolean {
  const { observedGeneration = -1 } = (status ?? {}) as { readonly observedGeneration?: number };
  return metadata?.deletionTimestamp !== undefined || observedGeneration === -1 || observedGeneration === metadata?.generation;
}
