import { nodeNamedBy } from "../workload/seen-node.ts";
import type { Assessment } from "../model/assessment.ts";
import type { MachineName } from "../model/machine.ts";

/**
 * Whether the pods of a machine's Node have another Node to go to. Where there is none, nobody is evicted: a pod that waits for a place is as far away as one that
 * boots with its Node, and a budget would hold up the boot for ever.
 */
export function isPodTaken({ machines, seen }: Assessment, name: MachineName): boolean {
  const nodes = seen.nodes?.nodes;
  return machines.some(({ declared, look, fact, isMember, isReady }) => {
    if (declared.name === name || !isMember || !isReady) return false;
    if (nodes === undefined || fact === undefined) return true;
    const node = nodeNamedBy(nodes, look, fact);
    return node !== undefined && node.isSchedulable !== false;
  });
}
