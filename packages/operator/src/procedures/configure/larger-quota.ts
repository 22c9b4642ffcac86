import { annotations } from "@talos-operator/api";
import { filesOf, hasRoom, inMib, leastInUse, notRunning } from "../care/files.ts";
import { quotaChangeOf } from "./etcd-quota.ts";
import type { AwaitedQuota } from "../care/no-space.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { KnownConfig, SeenConfig } from "../../model/config.ts";
import type { Observed } from "../../model/observation.ts";
import type { ConfigPlan, ConfigState } from "../../model/plans.ts";

/** How large the file of its etcd may grow with the configuration that is wanted, where that is more than with the one in force. Bytes; `Infinity` = no limit. */
export function largerQuotaOf(config: Pick<KnownConfig, "changes">): number | undefined {
  const change = quotaChangeOf(config);
  return change !== undefined && change.after > change.before ? change.after : undefined;
}

/**
 * Its boot brings the larger quota that an etcd without space waits for: etcd reads its arguments when it starts. Files that are full are all that is in the way;
 * while data differ none comes up after a boot. One in which what is in use has no room brings nothing.
 */
export function bootsForSpace(
  { seen, etcdMembership: view }: Pick<Assessment, "seen" | "etcdMembership">,
  config: SeenConfig | undefined,
): boolean {
  const beneath = view.kind === "unsafe" && view.isOnlyFull === true ? view.beneath : undefined;
  const quotaBytes = config?.kind === "known" ? largerQuotaOf(config) : undefined;
  if (beneath === undefined || quotaBytes === undefined) return false;
  const inUseBytes = leastInUse(filesOf(seen, beneath));
  return !Number.isFinite(inUseBytes) || hasRoom(inUseBytes, quotaBytes);
}

/** What a boot is asked for with: beneath an alarm only one for space goes on. */
export function forSpace(assessed: Assessment, config: SeenConfig | undefined): { readonly isForSpace?: true } {
  return bootsForSpace(assessed, config) ? { isForSpace: true } : {};
}

/** From here a larger quota gets to a machine by itself. */
const GOES_ON: ReadonlySet<ConfigState["kind"]> = new Set(["change", "staged", "under-way", "learn", "held"]);

/** Who waits for the boot that brings its larger quota, and what is in the way, without a full stop; `undefined` = nobody. */
export function largerQuotaAwaited(assessed: Assessment): AwaitedQuota | undefined {
  const { configs, byName, etcdMembership: view, rollout, seen } = assessed;
  const plans = configs.filter(({ machine }) => machine.declared.role === "controlplane");
  const waiting = plans.filter(({ machine }) => bootsForSpace(assessed, byName.get(machine.declared.name)?.config));
  const next = waiting.find(({ state }) => GOES_ON.has(state.kind)) ?? waiting[0];
  if (next === undefined) return unread(seen, plans) ?? raisesNothing(assessed, plans);
  const { name } = next.machine.declared;
  const failed = plans.find(({ state }) => state.kind === "failed");
  if (failed !== undefined)
    return {
      kind: "person",
      message: `the rollout of the larger quota stopped at ${failed.machine.declared.name}: see the condition ConfigUpToDate`,
    };
  if (!GOES_ON.has(next.state.kind))
    return {
      kind: "person",
      message: `the larger quota of the settings is not sent to ${name}: see the conditions ConfigUpToDate and ConfigDrift`,
    };
  if (view.kind === "unsafe" && view.beneath?.voters.length === 2)
    return {
      kind: "person",
      message: `the larger quota takes a boot of every control plane, and two voters are booted by hand. Stage it on ${name} and the other one (talosctl patch mc --mode=staged), and reboot one after the other`,
    };
  const why = next.state.kind === "held" ? next.state.why : rollout?.waiting.get(name);
  const [stopped] = notRunning(seen);
  return {
    kind: "waits",
    message:
      `the larger quota of the settings takes a boot of every control plane, one after the other, and ${name} waits for its own` +
      (why === undefined ? "" : `: ${why}`) +
      (stopped === undefined ? "" : `; etcd does not run on ${stopped}: if it stays so, its log says why (talosctl logs etcd)`),
  };
}

/** Whose settings changed, perhaps to a larger quota, and are not compared with what it runs. */
function unread(seen: Observed, plans: readonly ConfigPlan[]): AwaitedQuota | undefined {
  const plan = plans.find(({ fact, settings, state }) => state.kind === "unknown" && fact.configHash !== settings);
  if (plan?.state.kind !== "unknown") return undefined;
  const { name } = plan.machine.declared;
  const why =
    seen.held?.has(name) === true ? `is paused by its annotation ${annotations.reconcileMode}` : `was not read back (${plan.state.detail})`;
  return { kind: "beside", message: `the settings of ${name} changed, and it ${why}` };
}

/** Whose settings ask for another quota that brings no space: one that is no larger than the one in force, or in which what is in use has no room either. */
function raisesNothing({ byName }: Assessment, plans: readonly ConfigPlan[]): AwaitedQuota | undefined {
  for (const { machine } of plans) {
    const { name } = machine.declared;
    const config = byName.get(name)?.config;
    const change = config?.kind === "known" ? quotaChangeOf(config) : undefined;
    if (change === undefined) continue;
    const why = change.after > change.before ? "too small for what is in use, too" : `no more than the ${inMib(change.before)} of now`;
    return { kind: "beside", message: `the quota of ${inMib(change.after)} that the settings of ${name} ask for is ${why}` };
  }
  return undefined;
}
