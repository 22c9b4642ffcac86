import { quantityUnits } from "@talos-operator/api";
import { podsToLeave } from "../workload/pods.ts";
import type { NodeObject, PodObject } from "../workload/kinds.ts";

type Amounts = Readonly<Record<string, string | number>>;

/** What of a cluster says whether its Nodes can be drained. */
export interface DrainObjects {
  readonly nodes: readonly (NodeObject & { readonly status?: { readonly allocatable?: Amounts } })[];
  readonly pods: readonly PodObject[];
  readonly budgets: readonly Budget[];
}

interface Budget {
  readonly metadata?: { readonly namespace?: string; readonly name?: string };
  readonly status?: { readonly disruptionsAllowed?: number; readonly expectedPods?: number };
}

interface Requests {
  readonly resources?: { readonly requests?: Amounts };
}

/** What pods ask for, and Nodes have: what a scheduler goes by. */
const RESOURCES = ["cpu", "memory", "pods"] as const;

/** Names that are told. */
const MOST_NAMED = 8;

/**
 * What will hold up the drains of an upgrade, one Node at a time: budgets that allow no eviction now, and Nodes whose pods have no room on the others, by the sum of
 * what they ask for. Sentences; empty = nothing is seen that would. Pure.
 */
export function forecastDrains({ nodes, pods, budgets }: DrainObjects): readonly string[] {
  const closed = budgets.filter(({ status }) => status?.disruptionsAllowed === 0 && (status.expectedPods ?? 0) > 0);
  const names = closed.map(({ metadata }) => `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`).toSorted((a, b) => (a < b ? -1 : 1));
  const serving = nodes.filter(({ spec }) => spec?.unschedulable !== true);
  const crowded = nodes.flatMap((node) => lackFor(node, serving, pods) ?? []);
  return [
    ...(names.length === 0 ? [] : [`PodDisruptionBudgets that allow no eviction now: ${listed(names)}. Drains wait for them.`]),
    ...(crowded.length === 0 ? [] : [`Pods that find no room on the other Nodes when theirs is drained: ${listed(crowded)}.`]),
  ];
}

/** `node-1 (memory)`: what the pods of a Node ask for and the others do not have; `undefined` = they have it. */
function lackFor(node: NodeObject, serving: DrainObjects["nodes"], pods: readonly PodObject[]): string | undefined {
  const name = node.metadata?.name ?? "";
  const leaving = podsToLeave(pods, name).toEvict;
  if (leaving.length === 0) return undefined;
  const others = serving.filter(({ metadata }) => metadata?.name !== name);
  const there = new Set(others.map(({ metadata }) => metadata?.name));
  const staying = pods.filter(
    ({ spec, status }) => there.has(spec?.nodeName) && status?.phase !== "Succeeded" && status?.phase !== "Failed",
  );
  const lacking = RESOURCES.filter((resource) => {
    const free = sum(others, ({ status }) => amount(status?.allocatable?.[resource])) - sum(staying, (pod) => asks(pod, resource));
    return sum(leaving, (pod) => asks(pod, resource)) > free;
  });
  return lacking.length === 0 ? undefined : `${name} (${lacking.join(", ")})`;
}

function asks(pod: PodObject, resource: (typeof RESOURCES)[number]): number {
  if (resource === "pods") return 1;
  const { containers = [] } = (pod.spec ?? {}) as { readonly containers?: readonly Requests[] };
  return sum(containers, ({ resources }) => amount(resources?.requests?.[resource]));
}

const UNITS: Readonly<Record<string, number>> = { n: 1e-9, u: 1e-6, m: 1e-3, ...quantityUnits };

/** A quantity of Kubernetes as a number; what is none counts as nothing. */
function amount(quantity: string | number | undefined): number {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(String(quantity ?? "")) ?? [];
  return digits === "" ? 0 : Number(digits) * (UNITS[unit] ?? 0);
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

function listed(names: readonly string[]): string {
  return names.length <= MOST_NAMED ? names.join(", ") : `${names.slice(0, MOST_NAMED).join(", ")} and ${names.length - MOST_NAMED} more`;
}
