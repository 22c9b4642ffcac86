import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import type { common } from "@talos-operator/talos/protocol";
import type { Cell } from "../datacenter/cell.ts";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import { activeFacts } from "../node/identity.ts";
import type { StoredImage } from "../node/machine.ts";
import { talosVersionOfImage } from "../node/image-version.ts";
import { faultOf } from "../node/releases.ts";
import { REFUSED, schematicOfImage } from "../node/upgrade.ts";
import { isAtLeast } from "../node/version.ts";
import type { HandlerContext } from "./context.ts";
import { actorId, requireMachine } from "./guards.ts";
import { findImage, pullImage, storeAt } from "./image-handlers.ts";
import { preflightRefusal } from "./installer-images.ts";

/**
 * MachineService/Upgrade: pulls the image and, on control planes, checks that every member of etcd is well; answers, then stops services, installs and reboots. What
 * the installer has against it is found only after the answer: the machine then boots what it ran.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/internal/server/v1alpha1/v1alpha1_server.go` Upgrade
 */
export function upgrade(
  context: HandlerContext,
  request: machine.UpgradeRequest,
): machine.UpgradeResponse | Promise<machine.UpgradeResponse> {
  requireMachine(context);
  if (!context.cell.state.isInstalled) throw new RpcError(grpcStatus.failedPrecondition, "Talos is not installed");
  const pulled = pulledInstaller(context, request.image);
  return pulled instanceof Promise
    ? pulled.then((version) => acceptUpgrade(context, request, version))
    : acceptUpgrade(context, request, pulled);
}

/** Version of the installer, once its image is there: at once where it is already. */
function pulledInstaller(context: HandlerContext, image: string): string | Promise<string> {
  const refuse = (why: string): never => {
    throw new RpcError(grpcStatus.unknown, `error validating installer image "${image}": failed to pull image "${image}": ${why}`);
  };
  const version = talosVersionOfImage(image);
  if (version === undefined) return refuse("not found");
  const why = (thrown: unknown): never => refuse(thrown instanceof RpcError ? thrown.message : "context canceled");
  try {
    const pulling = pullImage(context, "system", image);
    return pulling === undefined ? version : pulling.then(() => version, why);
  } catch (thrown) {
    return why(thrown);
  }
}

function acceptUpgrade(context: HandlerContext, request: machine.UpgradeRequest, version: string): machine.UpgradeResponse {
  const { cell } = context;
  // From 1.12 on `preserve` says no more than that etcd is not asked: data are always kept.
  const asksEtcd = !request.force && !(request.preserve && isAtLeast(cell.state.hardware.talosVersion, "1.12"));
  if (asksEtcd && activeFacts(cell.state)?.machineType === "controlplane") requireHealthyEtcd(context);
  const id = actorId(context);
  const schematic = schematicOfImage(request.image);
  const installer = { version, ...(schematic === undefined ? {} : { schematic }), exitCode: exitCodeOf(context, version, schematic) };
  cell.dispatch(
    request.stage
      ? { kind: "stage-upgrade", actorId: id, image: request.image, ...installer }
      : { kind: "upgrade", actorId: id, ...installer },
  );
  return create(machine.UpgradeResponseSchema, { messages: [{ ack: "Upgrade request received", actorId: id }] });
}

/** How an installer will end here; one whose pre-flight checks refuse writes nothing. */
function exitCodeOf({ cell, world }: HandlerContext, version: string, schematic: string | undefined): number {
  if (preflightRefusal(cell.state.hardware.talosVersion, version) !== undefined) return REFUSED;
  return faultOf(world.releases, { version, schematic }, cell.address)?.installerExitCode ?? 0;
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

/** MachineService/Rollback: whatever runs, the other slot starts next. @see `.../bootloader/sdboot/sdboot.go` revert */
export function rollback(context: HandlerContext): machine.RollbackResponse {
  requireMachine(context);
  if (context.cell.state.system?.other === undefined) throw new RpcError(grpcStatus.unknown, "previous UKI not found");
  context.cell.dispatch({ kind: "rollback" });
  return create(machine.RollbackResponseSchema, { messages: [{}] });
}

/**
 * LifecycleService/Upgrade: writes the other slot, nothing more. What the installer has to say against it comes with its exit code. An installer that has begun goes
 * on whether somebody listens or not, and nobody else's begins until it has ended.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/lifecycle/lifecycle.go` Upgrade, `container.go` runInstallerContainer (it waits for the task on a context of its own)
 */
export async function* lifecycleUpgrade(
  context: HandlerContext,
  request: machine.LifecycleServiceUpgradeRequest,
): AsyncIterable<machine.LifecycleServiceUpgradeResponse> {
  requireMachine(context);
  const { cell } = context;
  if (cell.state.installer !== undefined)
    throw new RpcError(grpcStatus.failedPrecondition, "another installation/upgrade is already in progress");
  if (!cell.state.isInstalled) throw new RpcError(grpcStatus.failedPrecondition, "machine is not installed");
  const image = request.source?.imageName ?? "";
  const { talosVersion: version, schematic } = storedImage(context, request.containerd, image, "upgrade");
  const refusal = version === undefined ? `image ${image} is no installer` : preflightRefusal(cell.state.hardware.talosVersion, version);
  if (version === undefined || refusal !== undefined) {
    yield word(`running pre-flight checks for ${image}`);
    yield word(refusal ?? "");
    return yield exit(1);
  }
  const exitCode = exitCodeOf(context, version, schematic);
  cell.dispatch({ kind: "installer", version, ...(schematic === undefined ? {} : { schematic }), exitCode });
  yield word(`running pre-flight checks for ${image}`);
  yield word(`installing Talos to disk ${cell.state.hardware.disks[0]?.device ?? ""}`);
  await installerEnded(cell, context.signal);
  yield word(exitCode === 0 ? "installation complete" : "failed to install: no space left on device");
  yield exit(exitCode);
}

/** Resolves when no installer runs any more; rejects when the caller leaves. A machine that goes down meanwhile breaks the connection itself. */
function installerEnded(cell: Cell, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (cell.state.installer === undefined) return resolve();
    const left = (): void => {
      stop();
      reject(new RpcError(grpcStatus.cancelled, "context canceled"));
    };
    const stop = cell.onChange(() => {
      if (cell.state.installer !== undefined) return;
      stop();
      signal.removeEventListener("abort", left);
      resolve();
    });
    signal.addEventListener("abort", left, { once: true });
  });
}

/**
 * LifecycleService/Install: writes Talos to a disk of a machine that was configured and not told to install. It goes on without whoever leaves it, as an upgrade does.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/lifecycle/lifecycle.go` Install
 */
export async function* lifecycleInstall(
  context: HandlerContext,
  request: machine.LifecycleServiceInstallRequest,
): AsyncIterable<machine.LifecycleServiceInstallResponse> {
  requireMachine(context);
  const { cell } = context;
  if (cell.state.installer !== undefined)
    throw new RpcError(grpcStatus.failedPrecondition, "another installation/upgrade is already in progress");
  if (cell.state.isInstalled) throw new RpcError(grpcStatus.alreadyExists, "machine is already installed");
  const image = request.source?.imageName ?? "";
  const disk = request.destination?.disk ?? "";
  if (image !== "" && disk === "") throw new RpcError(grpcStatus.invalidArgument, "destination disk is required");
  const { talosVersion: version, schematic } = storedImage(context, request.containerd, image, "installation");
  if (!cell.state.hardware.disks.some(({ device }) => device === disk))
    throw new RpcError(grpcStatus.invalidArgument, `invalid disk path: lstat ${disk}: no such file or directory`);
  if (version === undefined) {
    yield installWord(`image ${image} is no installer`);
    return yield installExit(1);
  }
  const exitCode = faultOf(context.world.releases, { version, schematic }, cell.address)?.installerExitCode ?? 0;
  cell.dispatch({ kind: "installer", version, ...(schematic === undefined ? {} : { schematic }), exitCode, first: true });
  yield installWord(`installing Talos to disk ${disk}`);
  await installerEnded(cell, context.signal);
  yield installWord(exitCode === 0 ? "installation complete" : "failed to install: no space left on device");
  yield installExit(exitCode);
}

function storedImage(
  context: HandlerContext,
  containerd: common.ContainerdInstance | undefined,
  name: string,
  what: "upgrade" | "installation",
): StoredImage {
  if (name === "") throw new RpcError(grpcStatus.invalidArgument, "installer image name is required");
  const image = findImage(context, storeAt(containerd), name);
  if (image !== undefined) return image;
  const why = `installer image "${name}" not found in containerd store: image "${name}": not found`;
  throw new RpcError(grpcStatus.internal, `${what} failed: ${why}`);
}

function installWord(text: string): machine.LifecycleServiceInstallResponse {
  return create(machine.LifecycleServiceInstallResponseSchema, { progress: { response: { case: "message", value: text } } });
}

function installExit(code: number): machine.LifecycleServiceInstallResponse {
  return create(machine.LifecycleServiceInstallResponseSchema, { progress: { response: { case: "exitCode", value: code } } });
}

function word(text: string): machine.LifecycleServiceUpgradeResponse {
  return create(machine.LifecycleServiceUpgradeResponseSchema, { progress: { response: { case: "message", value: text } } });
}

function exit(code: number): machine.LifecycleServiceUpgradeResponse {
  return create(machine.LifecycleServiceUpgradeResponseSchema, { progress: { response: { case: "exitCode", value: code } } });
}
