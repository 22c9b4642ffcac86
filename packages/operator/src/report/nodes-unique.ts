import { conditionFor } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";
import { listed } from "./listed.ts";
import type { Assessment } from "../model/assessment.ts";

/** Names that one condition lists. */
const MOST_NAMED = 3;

/** That several machines report one Node, or that one left a Node behind which nobody can prove to be its own; nothing is said while each has one. */
export function nodesUnique({ seen, machines, formerNames }: Assessment): readonly ConditionInput[] {
  const { generation } = seen.controlPlane.metadata;
  const byNode = Map.groupBy(
    machines.flatMap(({ declared, look }) =>
      look.kind === "running" && look.sharesNode !== undefined ? [{ name: declared.name, node: look.nodeName ?? "" }] : [],
    ),
    ({ node }) => node,
  );
  const shared = [...byNode].map(
    ([node, those]) =>
      `${node}: ${listed(
        those.map(({ name }) => name),
        ", ",
        MOST_NAMED,
      )}`,
  );
  if (shared.length > 0)
    return [
      conditionFor(
        "NodesUnique",
        "NodeShared",
        `Several machines report one Node, and none of them counts as ready. ${listed(shared, "; ", MOST_NAMED)}. Give each machine its own host name in machines[].configPatches.`,
        generation,
      ),
    ];
  const left = formerNames.filter(({ isProven, node }) => !isProven && !node.isReady);
  if (left.length === 0) return [];
  const named = left.map(({ node, fact, renamedTo }) => `${node.name} (${fact.name} has ${renamedTo})`);
  return [
    conditionFor(
      "NodesUnique",
      "NodeLeft",
      `Nodes are not ready, and their machines have other Nodes. ${listed(named, ", ", MOST_NAMED)}. Delete each that is of an earlier host name: kubectl delete node.`,
      generation,
    ),
  ];
}
