import type { Action } from "../../../model/effect.ts";

/** Whether an action asks the guard itself, right before it sends; before every other one it is asked whether the cluster is still to be reconciled. */
const ASKS: Readonly<Record<Action["kind"], boolean>> = {
  ConfigureMachine: true,
  BootstrapEtcd: true,
  ResetMachine: true,
  LeaveEtcd: true,
  ForfeitLeadership: true,
  RemoveMember: true,
  CordonAndDrain: true,
  LookAtNodes: true,
  TendCertificates: true,
  Uncordon: true,
  DeleteNode: true,
  ApplyConfig: true,
  KeepConfig: true,
  RebootMachine: true,
  WriteMeta: true,
  AddFinalizer: false,
  RemoveFinalizer: false,
  CreateMachine: false,
  DeleteMachine: false,
  FollowEndpoint: false,
  CreateBundle: false,
  TakeBundle: false,
  WriteRecord: false,
  WriteKubeconfig: false,
  WriteTalosconfig: false,
  AnswerAnnotation: false,
  DeleteRecord: false,
  DeleteBundle: false,
};

/** @see ASKS */
export const asksGuard: ReadonlySet<Action["kind"]> = new Set((Object.keys(ASKS) as Action["kind"][]).filter((kind) => ASKS[kind]));
