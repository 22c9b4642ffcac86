import { quantityUnits } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { podsToLeave } from "../workload/pods.ts";
import type { NodeObject, PodObject } from "../workload/kinds.ts";

type Amounts = Readonly<Record<string, string | number>>;

/** What of a cluster says whether its Nodes can be drained. */
export interface DrainObjects {
  readonly nodes: readonly (NodeObject & { readonly status?: { readonly allocatable?: Amounts } })[];
  /** `undefined` = there are too many to be read. */
  readonly pods: readonly ForecastPod[] | undefined;
  readonly budgets: readonly Budget[];
}

/** A pod, with what it asks for. */
export type ForecastPod = PodObject & {
  readonly spec?: { readonly containers?: readonly { readonly resources?: { readonly requests?: Amounts } }[] };
};

type Budget = KubeObject & { readonly status?: { readonly disruptionsAllowed?: number; readonly expectedPods?: number } };

/** What pods ask for, and Nodes have: what a scheduler goes by. */
const RESOURCES = ["cpu", "memory", "pods"] as const;
type Sums = Readonly<Record<(typeof RESOURCES)[number], number>>;
const nothing: Sums = { cpu: 0, memory: 0, pods: 0 };

/** Sums of fractions are not exact. */
const ABOUT = 1e-6;

/** Names that are told. */
const MOST_NAMED = 3;

/**
 * What will hold up the drains of an upgrade, one Node at a time: budgets that allow no eviction now, and Nodes whose pods have no room on the others, by the sum of
 * what they ask for. Sentences; empty = nothing is seen that would. Pure.
 */
export function forecastDrains({ nodes, pods, budgets }: DrainObjects): readonly string[] {
  const closed = budgets.filter(({ status }) => status?.disruptionsAllowed === 0 && (status.expectedPods ?? 0) > 0);
  const names = closed.map(({ metadata }) => `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`).toSorted((a, b) => (a < b ? -1 : 1));
  const crowded = pods === undefined ? [] : lackOf(nodes, pods);
  return [
    ...(names.length === 0 ? [] : [`PodDisruptionBudgets that allow no eviction now: ${listed(names)}. Drains wait for them.`]),
    ...(pods === undefined ? ["Whether evicted pods find room on the other Nodes is not known: there are too many to be counted."] : []),
    ...(crowded.length === 0 ? [] : [`Pods that find no room on the other Nodes when theirs is drained: ${listed(crowded)}.`]),
  ];
}

/** `node-1 (memory)` of each Node: what its pods ask for and the others do not have. Every pod is looked at once: there may be thousands on as many Nodes. */
function lackOf(nodes: DrainObjects["nodes"], pods: readonly ForecastPod[]): readonly string[] {
  const podsOn = Map.groupBy(pods, ({ spec }) => spec?.nodeName ?? "");
  const known = nodes.map(({ metadata, spec, status }) => {
    const name = metadata?.name ?? "";
    const here = podsOn.get(name) ?? [];
    const running = here.filter((pod) => pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed");
    const has = sums([status?.allocatable ?? {}], (allocatable, resource) => amount(allocatable[resource]));
    const free = spec?.unschedulable === true ? nothing : minus(has, sums(running, asks));
    return { name, free, leaving: sums(podsToLeave(here, name).toEvict as readonly ForecastPod[], asks) };
  });
  const all = sums(known, ({ free }, resource) => free[resource]);
  return known.flatMap(({ name, free, leaving }) => {
    const elsewhere = minus(all, free);
    const lacking = RESOURCES.filter((resource) => leaving.pods > 0 && leaving[resource] > elsewhere[resource] + ABOUT);
    return lacking.length === 0 ? [] : [`${name} (${lacking.join(", ")})`];
  });
}

function asks({ spec }: ForecastPod, resource: (typeof RESOURCES)[number]): number {
  return resource === "pods"
    ? 1
    : (spec?.containers ?? []).reduce((sum, { resources }) => sum + amount(resources?.requests?.[resource]), 0);
}

const UNITS: Readonly<Record<string, number>> = { n: 1e-9, u: 1e-6, m: 1e-3, ...quantityUnits };

/** A quantity of Kubernetes as a number; what is none counts as nothing. */
function amount(quantity: string | number | undefined): number {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(String(quantity ?? "")) ?? [];
  return digits === "" ? 0 : Number(digits) * (UNITS[unit] ?? 0);
}

function sums<T>(all: readonly T[], of: (one: T, resource: (typeof RESOURCES)[number]) => number): Sums {
  const total = (resource: (typeof RESOURCES)[number]): number => all.reduce((sum, one) => sum + of(one, resource), 0);
  return { cpu: total("cpu"), memory: total("memory"), pods: total("pods") };
}

function minus(a: Sums, b: Sums): Sums {
  return { cpu: a.cpu - b.cpu, memory: a.memory - b.memory, pods: a.pods - b.pods };
}

function listed(names: readonly string[]): string {
  return names.length <= MOST_NAMED ? names.join(", ") : `${names.slice(0, MOST_NAMED).join(", ")} and ${names.length - MOST_NAMED} more`;
}
