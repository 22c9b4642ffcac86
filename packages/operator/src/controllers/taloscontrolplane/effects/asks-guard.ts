import type { Action } from "../model.ts";

/** Actions that ask the guard themselves, right before they send; before every other one it is asked whether the cluster is still to be reconciled. */
export const asksGuard: ReadonlySet<Action["kind"]> = new Set<Action["kind"]>([
  "ConfigureMachine",
  "BootstrapEtcd",
  "ResetMachine",
  "ForfeitLeadership",
  "RemoveMember",
  "CordonAndDrain",
  "LookAtNodes",
  "Uncordon",
  "DeleteNode",
  "ApplyConfig",
  "KeepConfig",
  "RebootMachine",
  "WriteMeta",
]);
