import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import type { HandlerContext } from "./context.ts";
import { actorId, requireMachine } from "./guards.ts";
import { preflightRefusal, talosVersionOfImage } from "./installer-images.ts";

/**
 * MachineService/Upgrade: checks the image and, on control planes, that every member of etcd is well; answers, then installs and reboots. A version that
 * the installer refuses is refused only after the answer: the machine then goes on as it was.
 */
export function upgrade(context: HandlerContext, request: machine.UpgradeRequest): machine.UpgradeResponse {
  requireMachine(context);
  const { state } = context.cell;
  requireInstalled(context);
  const version = talosVersionOfImage(request.image);
  if (version === undefined)
    throw new RpcError(
      grpcStatus.unknown,
      `error validating installer image "${request.image}": failed to pull image "${request.image}": not found`,
    );
  if (!request.force) requireHealthyEtcd(context);
  const id = actorId(context);
  if (preflightRefusal(state.hardware.talosVersion, version) === undefined)
    context.cell.dispatch({ kind: "upgrade", actorId: id, version });
  return create(machine.UpgradeResponseSchema, { messages: [{ ack: "Upgrade request received", actorId: id }] });
}

function requireHealthyEtcd(context: HandlerContext): void {
  const { cell, world } = context;
  const cluster = world.etcd.of(cell);
  if (cluster === undefined) return;
  if (cluster.members.length === 2)
    throw new RpcError(grpcStatus.unknown, "error validating etcd for upgrade: etcd cluster has only 2 members, can't upgrade");
  const live = world.etcd.live(cluster.key);
  const bad = cluster.members.find((member) => !member.isStarted || !live.has(member.id));
  if (bad !== undefined) throw new RpcError(grpcStatus.unknown, `error validating etcd for upgrade: member ${bad.name} is not healthy`);
}

/** MachineService/Rollback. */
export function rollback(context: HandlerContext): machine.RollbackResponse {
  requireMachine(context);
  if (context.cell.state.system?.other === undefined) throw new RpcError(grpcStatus.unknown, "previous installation not found");
  context.cell.dispatch({ kind: "rollback" });
  return create(machine.RollbackResponseSchema, { messages: [{}] });
}

/** LifecycleService/Upgrade: writes the other slot, nothing more. What the installer has to say against it comes with its exit code. */
export async function* lifecycleUpgrade(
  context: HandlerContext,
  request: machine.LifecycleServiceUpgradeRequest,
): AsyncIterable<machine.LifecycleServiceUpgradeResponse> {
  requireMachine(context);
  requireInstalled(context);
  const { cell, world, signal } = context;
  const image = storedImage(context, request.source?.imageName ?? "");
  const version = talosVersionOfImage(image);
  const refusal = version === undefined ? `image ${image} is no installer` : preflightRefusal(cell.state.hardware.talosVersion, version);
  yield word(`running pre-flight checks for ${image}`);
  if (version === undefined || refusal !== undefined) {
    yield word(refusal ?? "");
    yield exit(1);
    return;
  }
  yield word(`installing Talos to disk ${cell.state.hardware.disks[0]?.device ?? ""}`);
  // Whoever leaves the stream stops the installer.
  await world.timers.sleep(world.timings.installMs, signal);
  cell.dispatch({ kind: "slot-written", version });
  yield word("installation complete");
  yield exit(0);
}

/** LifecycleService/Install: machines of this simulator install themselves from their configuration. */
// eslint-disable-next-line require-yield
export async function* lifecycleInstall(context: HandlerContext): AsyncIterable<never> {
  requireMachine(context);
  await Promise.resolve();
  if (context.cell.state.isInstalled) throw new RpcError(grpcStatus.alreadyExists, "Talos is already installed");
  throw new RpcError(grpcStatus.unimplemented, "installation by call is not simulated");
}

function requireInstalled(context: HandlerContext): void {
  if (!context.cell.state.isInstalled) throw new RpcError(grpcStatus.failedPrecondition, "Talos is not installed");
}

function storedImage(context: HandlerContext, name: string): string {
  if (name === "") throw new RpcError(grpcStatus.invalidArgument, "image name is required");
  const isThere = (context.cell.state.images ?? []).some((image) => image.store === "system" && image.name === name);
  if (!isThere) throw new RpcError(grpcStatus.internal, `failed to get image "${name}": not found`);
  return name;
}

function word(text: string): machine.LifecycleServiceUpgradeResponse {
  return create(machine.LifecycleServiceUpgradeResponseSchema, { progress: { response: { case: "message", value: text } } });
}

function exit(code: number): machine.LifecycleServiceUpgradeResponse {
  return create(machine.LifecycleServiceUpgradeResponseSchema, { progress: { response: { case: "exitCode", value: code } } });
}
