import type { ClusterRecord } from "@talos-operator/api";
import type { EffectId } from "./effects.ts";
import type { MembersView } from "./members-view.ts";
import type { Stage } from "./stage.ts";
import { intentsOf } from "./talos-rules.ts";
import type { Report } from "./violation.ts";

/** What goes to a machine goes to the one that was written down, and under an intent that was written down: S11, S19, S20. */
export interface IntentRules {
  judgeWipe(address: string, record: ClusterRecord | undefined): void;
  judgeIdentity(effect: EffectId, address: string, record: ClusterRecord | undefined): void;
  judgeInstallation(address: string, record: ClusterRecord | undefined): void;
  judgeCare(address: string, detail: string, record: ClusterRecord | undefined): void;
}

/** The call takes alarms back. */
export function isDisarming(detail: string): boolean {
  return detail.includes("/EtcdAlarmDisarm ");
}

export function createIntentRules({ machineAt }: MembersView, stage: Stage, report: Report): IntentRules {
  function judgeWipe(address: string, record: ClusterRecord | undefined): void {
    const { controlPlanes = [], workers = [] } = stage.desired ?? {};
    if (controlPlanes.includes(address) || workers.includes(address)) report("S19", `a wipe goes to ${address}, which is still wanted`);
    if (!stage.everMachines.has(address)) report("S19", `a wipe goes to ${address}, which never belonged to the cluster`);
    const intent = intentsOf(record).find((one) => one.what === "Reset" && one.machine.address === address);
    if (intent === undefined) report("S19", `a wipe goes to ${address} without an open intent`);
    else if (intent.machine.uuid !== "" && intent.machine.uuid !== machineAt(address).state.hardware.uuid)
      report("S19", `a wipe goes to ${address}, where another machine stands than in the intent`);
  }

  function judgeIdentity(effect: EffectId, address: string, record: ClusterRecord | undefined): void {
    const known = [...(record?.spec.knownControlPlanes ?? []), ...(record?.spec.knownWorkers ?? [])].filter(
      (one) => one.address === address,
    );
    const { uuid } = machineAt(address).state.hardware;
    if (known.length > 0 && known.every((one) => one.uuid !== "" && one.uuid !== uuid))
      report("S20", `${effect} goes to ${address}, where another machine stands than the recorded one`);
  }

  /** Another Talos goes to a machine under an intent of its own, of a worker, too. */
  function judgeInstallation(address: string, record: ClusterRecord | undefined): void {
    if (!intentsOf(record).some(({ machine }) => machine.address === address))
      report("S11", `another Talos goes to ${address} without an open intent on it`);
  }

  /** Members are defragmented, and alarms taken back, under an intent for that very thing. */
  function judgeCare(address: string, detail: string, record: ClusterRecord | undefined): void {
    const what = isDisarming(detail) ? "DisarmAlarms" : "Defragment";
    if (!intentsOf(record).some((open) => open.what === what && open.machine.address === address))
      report("S11", `${detail} is sent without an open intent for it (${what})`);
  }

  return { judgeWipe, judgeIdentity, judgeInstallation, judgeCare };
}
