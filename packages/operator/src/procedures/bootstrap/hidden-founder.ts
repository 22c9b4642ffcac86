import { stateOf } from "../../assess/machine-state.ts";
import { machineFact, mayHoldConfig } from "../../record/facts.ts";
import { controlPlanesOf, waitsForEtcd } from "../../assess/etcd-view.ts";
import { isMadeAnew } from "../../observe/reported-machines.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { MachineName } from "../../model/machine.ts";
import type { Observed } from "../../model/observation.ts";

/**
 * What has to be awaited before a cluster whose record was lost is taken for one without etcd, as the end of a sentence; nothing where nothing has to be.
 *
 * etcd may be bootstrapped though the record that was made anew does not say so: by a control plane that was configured before, and does not show it now.
 *
 * @param except a machine that is not asked about
 */
export function onceFounderShows(seen: Observed, facts: ClusterFacts, except?: MachineName): string | undefined {
  if (facts.bootstrapDone !== undefined || !isMadeAnew(facts)) return undefined;
  const hidden = controlPlanesOf(seen).find(
    ({ declared, look }) =>
      declared.name !== except &&
      mayHoldConfig(machineFact(facts, declared.name)) &&
      look.kind !== "maintenance" &&
      !(look.kind === "running" && waitsForEtcd(look.etcd)),
  );
  if (hidden === undefined) return undefined;
  return `once ${hidden.declared.name} (${stateOf(hidden)}) shows whether it bootstrapped etcd: the record that knew was lost.`;
}
