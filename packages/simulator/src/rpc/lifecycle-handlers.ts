import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import type { ResetWipe } from "../node/inputs.ts";
import type { HandlerContext } from "./context.ts";
import { actorId, requireMachine } from "./guards.ts";

/** MachineService/Reboot: answers first, reboots after. */
export function reboot(context: HandlerContext): machine.RebootResponse {
  requireMachine(context);
  const id = actorId(context);
  context.cell.dispatch({ kind: "reboot", actorId: id });
  return create(machine.RebootResponseSchema, { messages: [{ actorId: id }] });
}

/** MachineService/Shutdown. */
export function shutdown(context: HandlerContext): machine.ShutdownResponse {
  requireMachine(context);
  const id = actorId(context);
  context.cell.dispatch({ kind: "shutdown", actorId: id });
  return create(machine.ShutdownResponseSchema, { messages: [{ actorId: id }] });
}

const systemPartitions = ["EFI", "BIOS", "BOOT", "META", "STATE", "EPHEMERAL"];

/**
 * MachineService/Reset: checks the wish, answers with an actor id; everything else follows the answer. A graceful reset leaves etcd first and stops
 * when etcd refuses. A container only stops: it leaves nothing, wipes nothing, and is off until somebody starts it.
 */
export function reset(context: HandlerContext, request: machine.ResetRequest): machine.ResetResponse {
  const { state } = context.cell;
  const wipe = wipeOf(context, request);
  const id = actorId(context);
  context.cell.dispatch({
    kind: "reset",
    actorId: id,
    wipe,
    isGraceful: request.graceful && wipe.ephemeral,
    afterwards: request.reboot && state.hardware.platform !== "container" ? "reboot" : "shutdown",
  });
  return create(machine.ResetResponseSchema, { messages: [{ actorId: id }] });
}

function wipeOf(context: HandlerContext, request: machine.ResetRequest): ResetWipe {
  const { hardware } = context.cell.state;
  const labels = request.systemPartitionsToWipe.map((partition) => partition.label);
  const { SYSTEM_DISK, USER_DISKS } = machine.ResetRequest_WipeMode;
  if (request.mode === SYSTEM_DISK && request.userDisksToWipe.length > 0) {
    throw new RpcError(grpcStatus.unknown, "reset failed: invalid input, wipe mode SYSTEM_DISK doesn't support UserDisksToWipe parameter");
  }
  if (request.mode === USER_DISKS && labels.length > 0) {
    throw new RpcError(
      grpcStatus.unknown,
      "reset failed: invalid input, wipe mode USER_DISKS doesn't support SystemPartitionsToWipe parameter",
    );
  }
  for (const device of request.userDisksToWipe) {
    if (!hardware.disks.some((disk) => disk.device === device))
      throw new RpcError(grpcStatus.unknown, `reset user disk failed: device ${device} wasn't found`);
  }
  for (const label of labels) {
    if (hardware.platform === "container" || !systemPartitions.includes(label))
      throw new RpcError(grpcStatus.unknown, `failed to reset: volume "${label}" is not located`);
  }
  const nothing: ResetWipe = { state: false, ephemeral: false, system: false, meta: false };
  if (hardware.platform === "container" || request.mode === USER_DISKS) return nothing;
  if (labels.length === 0) return { state: true, ephemeral: true, system: true, meta: true };
  const wiped = new Set(request.systemPartitionsToWipe.filter((partition) => partition.wipe).map((partition) => partition.label));
  return {
    state: wiped.has("STATE"),
    ephemeral: wiped.has("EPHEMERAL"),
    system: wiped.has("BOOT") || wiped.has("EFI"),
    meta: wiped.has("META"),
  };
}

/** MachineService/MetaWrite. */
export function metaWrite(context: HandlerContext, request: machine.MetaWriteRequest): machine.MetaWriteResponse {
  requireMachine(context);
  if (request.key > 255) throw new RpcError(grpcStatus.invalidArgument, "key must be a uint8");
  context.cell.dispatch({ kind: "meta", key: String(request.key), value: Buffer.from(request.value).toString("utf8") });
  return create(machine.MetaWriteResponseSchema, { messages: [{}] });
}

/** MachineService/MetaDelete. */
export function metaDelete(context: HandlerContext, request: machine.MetaDeleteRequest): machine.MetaDeleteResponse {
  requireMachine(context);
  if (context.cell.state.meta[String(request.key)] === undefined) throw new RpcError(grpcStatus.notFound, "key not found");
  context.cell.dispatch({ kind: "meta", key: String(request.key), value: undefined });
  return create(machine.MetaDeleteResponseSchema, { messages: [{}] });
}
