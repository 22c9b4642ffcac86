import { nodeOf } from "../workload/seen-node.ts";
import { onceFor } from "../assess/once.ts";
import type { Assessment } from "../model/assessment.ts";
import type { MachineName } from "../model/machine.ts";

/** On which machine of the cluster this process runs. */
export type OwnMachine =
  /** The cluster's API has not said whether this process runs in it. */
  | { readonly kind: "unknown" }
  | { readonly kind: "elsewhere" }
  | { readonly kind: "here"; readonly machine: MachineName; readonly node: string };

/** Where this process runs: found by the UID of its pod, which no other cluster has. */
export const ownMachine = onceFor(({ seen, machines }: Assessment): OwnMachine => {
  const { own, nodes = [] } = seen.nodes ?? {};
  if (own === undefined || own.kind !== "here") return own ?? { kind: "elsewhere" };
  // A machine tells the name of its Node itself; cloned ones share their UUID.
  const machine =
    machines.find(({ look }) => look.kind === "running" && look.nodeName === own.name) ??
    machines.find(({ fact }) => fact !== undefined && nodeOf(nodes, fact)?.name === own.name);
  return machine === undefined ? { kind: "elsewhere" } : { kind: "here", machine: machine.declared.name, node: own.name };
});
