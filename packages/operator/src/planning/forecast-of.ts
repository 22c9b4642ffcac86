import { factsOf } from "../record/facts.ts";
import { forecastUpgrade } from "./upgrade-forecast.ts";
import { upgradePlanOf } from "./upgrade-plan.ts";
import type { ForecastInput, UpgradeForecast } from "./upgrade-forecast.ts";
import type { MachineName } from "../model/machine.ts";
import type { Assessment } from "../model/assessment.ts";

/**
 * What is to be expected of the upgrade that a spec asks for; `undefined` = none is asked for, or nothing of it can begin.
 *
 * @param reached machines that nothing holds up; absent = all of them
 */
export function forecastOf(assessed: Assessment, reached?: ReadonlySet<MachineName>): UpgradeForecast | undefined {
  const { seen, etcdMembership: view, pools } = assessed;
  const plan = upgradePlanOf(seen);
  const facts = factsOf(seen);
  if (plan.kind !== "hops" || plan.heldBy !== undefined || facts?.bootstrapDone === undefined) return undefined;
  const leader = view.kind === "known" ? view.leader : undefined;
  const hops = plan.hops.flatMap((hop): ForecastInput["hops"] =>
    hop.kind !== "talos"
      ? []
      : [
          {
            role: hop.role === "worker" ? "worker" : "controlplane",
            machines: hop.machines.flatMap(({ name }) => {
              if (reached?.has(name) === false) return [];
              const machine = assessed.byName.get(name);
              const member = machine?.look.kind === "running" ? machine.look.etcd?.localMember : undefined;
              return [{ name, pool: machine?.declared.owner.name ?? "", leads: member !== undefined && member === leader }];
            }),
          },
        ],
  );
  return forecastUpgrade({
    hops,
    limits: new Map([...pools].map(([name, { limit }]) => [name, limit])),
    etcd: view.kind === "known" ? { healthy: view.voters.filter(({ isHealthy }) => isHealthy).length, needed: view.needed } : undefined,
    decisions: facts.decisions,
  });
}
