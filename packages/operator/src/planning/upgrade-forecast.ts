import { countOf, listed } from "../report/listed.ts";
import type { DecisionFact } from "../model/record.ts";
import type { MachineName, MachineRole } from "../model/machine.ts";

/** One machine of a hop. */
export interface ForecastMachine {
  readonly name: MachineName;
  /** Its worker pool; of control planes nobody asks. */
  readonly pool: string;
  /** It leads etcd. */
  readonly leads: boolean;
}

/** What a forecast is made from. */
export interface ForecastInput {
  /** Hops of Talos, in their order. */
  readonly hops: readonly { readonly role: MachineRole; readonly machines: readonly ForecastMachine[] }[];
  /** Of each worker pool so many may be down at once; absent = 1. */
  readonly limits: ReadonlyMap<string, number>;
  /** Voters of etcd, those that are healthy, and how many are needed; `undefined` = nobody knows. */
  readonly etcd: { readonly healthy: number; readonly needed: number } | undefined;
  /** What the record remembers of earlier ones. */
  readonly decisions: readonly DecisionFact[];
}

/** What is to be expected of an upgrade of Talos before it begins, or of what is left of it. */
export interface UpgradeForecast {
  /** In the order of their turns; one that goes through several hops stands there as often. */
  readonly order: readonly MachineName[];
  /** One after the other, so many times somebody waits for a machine. */
  readonly turns: number;
  /** What all turns take. */
  readonly seconds: number;
  /** What one takes, and whether machines of this cluster took that, or it is assumed. */
  readonly secondsEach: number;
  readonly isFromHistory: boolean;
  /** Healthy voters beyond those that are needed while a control plane is away; below 0 etcd is away meanwhile. `undefined` = none is, or nobody knows. */
  readonly margin: number | undefined;
}

/** What a machine is assumed to take where none was upgraded yet: pull, installation, drain, boot and bake time. */
export const ASSUMED_SECONDS = 180;

/** Pure. `undefined` = there is nothing to do. */
export function forecastUpgrade({ hops, limits, etcd, decisions }: ForecastInput): UpgradeForecast | undefined {
  const order = hops.flatMap(({ role, machines }) => inOrder(role, machines).map(({ name }) => name));
  if (order.length === 0) return undefined;
  const known = secondsKnown(decisions);
  const secondsEach = known ?? ASSUMED_SECONDS;
  const turns = hops.reduce(
    (sum, { role, machines }) => sum + (role === "controlplane" ? machines.length : turnsOfWorkers(machines, limits)),
    0,
  );
  const isAway = hops.some(({ role, machines }) => role === "controlplane" && machines.length > 0);
  return {
    order,
    turns,
    seconds: turns * secondsEach,
    secondsEach,
    isFromHistory: known !== undefined,
    margin: etcd === undefined || !isAway ? undefined : etcd.healthy - 1 - etcd.needed,
  };
}

/** Followers first, the leader last. */
function inOrder(role: MachineRole, machines: readonly ForecastMachine[]): readonly ForecastMachine[] {
  const weight = ({ leads }: ForecastMachine): number => Number(role === "controlplane" && leads);
  return machines.toSorted((a, b) => weight(a) - weight(b) || (a.name < b.name ? -1 : 1));
}

/** The first one goes alone; after that the pools go on beside each other. */
function turnsOfWorkers(machines: readonly ForecastMachine[], limits: ReadonlyMap<string, number>): number {
  const [, ...others] = inOrder("worker", machines);
  const pools = Map.groupBy(others, ({ pool }) => pool);
  const longest = Math.max(0, ...[...pools].map(([pool, { length }]) => Math.ceil(length / Math.max(1, limits.get(pool) ?? 1))));
  return machines.length === 0 ? 0 : 1 + longest;
}

/** The longest that a pull and a drain are taken to last before the record knows that a machine has its turn. */
const MOST_BEFORE_MS = 900_000;

/**
 * What a machine took to the end of its bake time: the median of those that the record remembers. A turn begins when the machine before it was done; where that is long ago,
 * or none was, with the first that is written down of it.
 */
function secondsKnown(decisions: readonly DecisionFact[]): number | undefined {
  const began = new Map<string, number>();
  const took: number[] = [];
  let doneAt = Number.NEGATIVE_INFINITY;
  for (const { action, reason, machine, at } of decisions) {
    if (machine === undefined) continue;
    if (reason === "VersionAsked" && action !== "Reboot") {
      const sinceMs = at - doneAt;
      began.set(machine, sinceMs >= 0 && sinceMs <= MOST_BEFORE_MS ? doneAt : at);
    }
    if (reason === "Upgraded") doneAt = at;
    const since = began.get(machine);
    if (reason !== "Upgraded" || since === undefined) continue;
    took.push(Math.max(1, Math.round((at - since) / 1000)));
    began.delete(machine);
  }
  return took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)];
}

/** `6 boots in 4 turns, about 12 minutes (3 minutes each, …)`. */
function sayLeft({ order, turns, seconds, secondsEach, isFromHistory }: UpgradeForecast): string {
  const each = `${minutes(secondsEach)} each, ${isFromHistory ? "as machines of this cluster took" : "assumed: none was upgraded yet"}`;
  return `${countOf(order.length, "boot")} in ${countOf(turns, "turn")}, about ${minutes(seconds)} (${each})`;
}

/** The forecast for people, as sentences. */
export function sayForecast(forecast: UpgradeForecast): string {
  const { order, margin } = forecast;
  const etcd =
    margin === undefined
      ? ""
      : margin < 0
        ? " etcd does not answer while a control plane boots: it has no voter to spare."
        : ` While a control plane boots etcd may lose ${margin === 0 ? "no other voter" : `${margin} more`}.`;
  return `${sayLeft(forecast)}: ${listed(order)}.${etcd}`;
}

function minutes(seconds: number): string {
  if (seconds < 90) return `${seconds} seconds`;
  return `${Math.round(seconds / 60)} minutes`;
}
