import { ownersOf } from "../workload/seen-node.ts";
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
  const node = nodes.find(({ name }) => name === own.name);
  const machine = machines.find(
    ({ look, fact }) =>
      (look.kind === "running" && look.nodeName === own.name) ||
      (node !== undefined && fact !== undefined && ownersOf([fact], node).length > 0),
  );
  return machine === undefined ? { kind: "elsewhere" } : { kind: "here", machine: machine.declared.name, node: own.name };
});
