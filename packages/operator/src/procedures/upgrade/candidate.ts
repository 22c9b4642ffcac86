import type { MachineHop } from "@talos-operator/talos";
import type { Action } from "../../model/effect.ts";
import type { AssessedMachine } from "../../model/assessment.ts";
import type { UpgradeIntent } from "../../record/upgrades.ts";

/** One machine of the hop. */
export interface Candidate {
  readonly machine: AssessedMachine;
  readonly hop: MachineHop;
  readonly name: string;
  readonly isInstalled: boolean;
}

/** What a machine does now. */
export type Begun =
  | { readonly kind: "hold"; readonly why: string; readonly actions?: readonly Action[]; readonly needsPerson?: true | "outage" }
  /** `beginsRun`: the run is written down, and everything else follows. */
  | { readonly kind: "act"; readonly says: string; readonly actions: readonly Action[]; readonly beginsRun?: true }
  | { readonly kind: "open"; readonly intent: UpgradeIntent; readonly action: readonly Action[] };
