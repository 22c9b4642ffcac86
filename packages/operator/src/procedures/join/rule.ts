import type { Action } from "../../model/effect.ts";
import type { Rule } from "../../model/decision.ts";

/**
 * Configures every machine that waits in maintenance mode, control planes and workers alike, before and after etcd is bootstrapped.
 *
 * Who it is goes into the record first; the send then demands the same key.
 */
export const configureMachines: Rule = {
  name: "configureMachines",
  decide(assessed) {
    const { seen } = assessed;
    if (seen.record.kind !== "present") return undefined;
    const { facts, resourceVersion } = seen.record.value;
    const plan = assessed.joining;
    if (plan === undefined) return undefined;
    const actions: readonly Action[] = [
      ...(plan.facts === facts
        ? []
        : [{ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: plan.facts, why: "MachinesPinned" } as const]),
      ...plan.configure.map((machine) => ({ kind: "ConfigureMachine", ...machine }) as const),
    ];
    if (actions.length === 0) return undefined;
    if (plan.configure.length === 0) return { actions };
    return {
      actions,
      waiting: {
        reason: "Configuring",
        message: `Configuring machines: ${plan.configure.map(({ machine }) => machine.name).join(", ")}.`,
        ...(plan.configure.every(({ machine }) => machine.role === "worker") ? { ofWorkers: true } : {}),
      },
    };
  },
};
