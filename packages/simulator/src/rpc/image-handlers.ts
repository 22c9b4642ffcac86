import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { EmptySchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Empty } from "@bufbuild/protobuf/wkt";
import { common, machine } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import { activeFacts } from "../node/identity.ts";
import type { StoredImage } from "../node/machine.ts";
import { talosVersionOfImage } from "../node/image-version.ts";
import { faultOf } from "../node/releases.ts";
import { schematicOfImage } from "../node/upgrade.ts";
import type { HandlerContext } from "./context.ts";
import { forever } from "./guards.ts";

type Store = StoredImage["store"];

/** siderolabs/talos v1.13.9 `internal/pkg/containers/image/image.go` PullTimeout. */
const PULL_TIMEOUT_MS = 20 * 60_000;

/** MachineService/ImageList: what runs here, and what was pulled. */
export async function* imageList(context: HandlerContext, request: machine.ImageListRequest): AsyncIterable<machine.ImageListResponse> {
  const store = storeOf(request.namespace);
  await Promise.resolve();
  for (const image of imagesOf(context, store)) yield create(machine.ImageListResponseSchema, factsOf(image));
}

/** MachineService/ImagePull: answers when the image is there. */
export function imagePull(
  context: HandlerContext,
  request: machine.ImagePullRequest,
): machine.ImagePullResponse | Promise<machine.ImagePullResponse> {
  const pulling = pullImage(context, storeOf(request.namespace), request.reference);
  const answer = (): machine.ImagePullResponse => create(machine.ImagePullResponseSchema, { messages: [{}] });
  return pulling === undefined ? answer() : pulling.then(answer);
}

/** ImageService/List. */
export async function* imageServiceList(
  context: HandlerContext,
  request: machine.ImageServiceListRequest,
): AsyncIterable<machine.ImageServiceListResponse> {
  const store = storeAt(request.containerd);
  await Promise.resolve();
  for (const image of imagesOf(context, store)) yield create(machine.ImageServiceListResponseSchema, factsOf(image));
}

/**
 * ImageService/Pull: one layer, then the name, by its digest. Whoever leaves the stream ends the pull.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/images/images.go` Pull
 */
export async function* imageServicePull(
  context: HandlerContext,
  request: machine.ImageServicePullRequest,
): AsyncIterable<machine.ImageServicePullResponse> {
  const store = storeAt(request.containerd);
  await Promise.resolve();
  const name = pinned(request.imageRef);
  const done = create(machine.ImageServicePullResponseSchema, { response: { case: "name", value: name } });
  // What is there already has no layer to tell of.
  if (findImage(context, store, normalised(request.imageRef)) !== undefined) return yield done;
  const pulling = pullImage(context, store, request.imageRef);
  // Whoever leaves before he heard the first word ends it, and nobody is told.
  pulling?.catch(() => undefined);
  const { DOWNLOADING, EXTRACT_COMPLETE } = machine.ImageServicePullLayerProgress_Status;
  const size = BigInt(sizeOf(request.imageRef));
  const progress = (status: machine.ImageServicePullLayerProgress_Status, offset: bigint): machine.ImageServicePullResponse =>
    create(machine.ImageServicePullResponseSchema, {
      response: {
        case: "pullProgress",
        value: { layerId: digestOf(`${request.imageRef}/layer`), progress: { status, offset, total: size } },
      },
    });
  yield progress(DOWNLOADING, 0n);
  await pulling;
  yield progress(EXTRACT_COMPLETE, size);
  yield done;
}

/** ImageService/Remove. */
export function imageServiceRemove(context: HandlerContext, request: machine.ImageServiceRemoveRequest): Empty {
  const store = storeAt(request.containerd);
  const image = findImage(context, store, request.imageRef);
  if (image === undefined) throw new RpcError(grpcStatus.notFound, `image ${request.imageRef} not found`);
  context.cell.dispatch({ kind: "image", store, name: image.name, isThere: false });
  return create(EmptySchema);
}

/** The image that was pulled into this store, by any of its names. */
export function findImage({ cell }: HandlerContext, store: Store, name: string): StoredImage | undefined {
  return (cell.state.images ?? []).find((image) => image.store === store && namesOf(image.name).includes(name));
}

/**
 * Pulls an image: done at once where it is there already or pulling takes no time, else when the promise resolves. Registries hold every image with a tag or digest,
 * but of Talos only the installers of versions that can be simulated. A registry that lacks the image, or has it for another processor alone, is asked once; any
 * other answer is no answer, and it is asked for twenty minutes.
 *
 * @throws RpcError NOT_FOUND
 * @see siderolabs/talos v1.13.9 `internal/app/images/images.go` Pull (WithMaxNotFoundRetries(0))
 */
export function pullImage(context: HandlerContext, store: Store, reference: string): Promise<void> | undefined {
  if (reference === "" || /\s/.test(reference))
    throw new RpcError(grpcStatus.unknown, `failed to parse image reference "${reference}": invalid reference format`);
  const isNamed = /^[\w.-]+(?::\d+)?(?:\/[\w.-]+)+(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?$/.test(reference) && /[:@]/.test(reference);
  const isInstaller = /\/[\w.-]*installer[\w.-]*[:/]/.test(reference);
  const { cell, world, signal } = context;
  const version = talosVersionOfImage(reference);
  const schematic = schematicOfImage(reference);
  const fault = version === undefined ? undefined : faultOf(world.releases, { version, schematic }, cell.address)?.image;
  const name = normalised(reference);
  const isThere = findImage(context, store, name) !== undefined;
  const failed = (why: string): string => `1 error(s) occurred:\n\tfailed to pull image "${reference}": ${why}`;
  if (!isThere && (!isNamed || (isInstaller && version === undefined) || fault === "missing"))
    throw new RpcError(
      grpcStatus.notFound,
      `error pulling image: ${failed(`failed to resolve reference "${reference}": ${reference}: not found`)}`,
    );
  if (!isThere && fault === "other-platform")
    throw new RpcError(grpcStatus.notFound, `error pulling image: ${failed("no match for platform in manifest: not found")}`);
  const installs = version === undefined ? {} : { talosVersion: version, ...(schematic === undefined ? {} : { schematic }) };
  const keep = (): void => cell.dispatch({ kind: "image", store, name, isThere: true, ...installs });
  if (!isThere && fault === "stuck") return forever(signal);
  if (!isThere && fault === "unbuildable") {
    const [host = "", ...path] = reference.replace(/:([\w.-]+)$/, "/manifests/$1").split("/");
    const why = `failed to resolve reference "${reference}": unexpected status from HEAD request to https://${host}/v2/${path.join("/")}: 400 Bad Request`;
    return world.timers.sleep(PULL_TIMEOUT_MS, signal).then(() => Promise.reject(new RpcError(grpcStatus.unknown, failed(why))));
  }
  if (world.timings.imagePullMs > 0 && !isThere) return world.timers.sleep(world.timings.imagePullMs, signal).then(keep);
  keep();
  return undefined;
}

/** Of the older calls: both through the containerd of the CRI. @throws RpcError INVALID_ARGUMENT for a store that a machine does not have */
function storeOf(namespace: common.ContainerdNamespace | undefined): Store {
  if (namespace === common.ContainerdNamespace.NS_SYSTEM) return "system";
  if (namespace === common.ContainerdNamespace.NS_CRI) return "cri";
  throw new RpcError(grpcStatus.invalidArgument, `unsupported containerd namespace ${namespace ?? 0}`);
}

/**
 * Two containerds run on a machine, and none knows the images of the other: that of Talos itself, which the request means unless it says another driver, and that of
 * the CRI, which has what Kubernetes runs beside etcd, kubelet and installer.
 *
 * @throws RpcError INVALID_ARGUMENT
 * @see siderolabs/talos v1.13.9 `internal/app/internal/ctrhelper/ctrhelper.go`
 */
export function storeAt(instance: common.ContainerdInstance | undefined): Store {
  const { driver = common.ContainerDriver.CONTAINERD, namespace = common.ContainerdNamespace.NS_UNKNOWN } = instance ?? {};
  if (namespace !== common.ContainerdNamespace.NS_SYSTEM && namespace !== common.ContainerdNamespace.NS_CRI)
    throw new RpcError(
      grpcStatus.invalidArgument,
      `invalid containerd namespace ${namespace === common.ContainerdNamespace.NS_UNKNOWN ? "NS_UNKNOWN" : namespace}`,
    );
  if (driver === common.ContainerDriver.CRI) return namespace === common.ContainerdNamespace.NS_SYSTEM ? "system" : "cri";
  if (namespace === common.ContainerdNamespace.NS_CRI)
    throw new RpcError(grpcStatus.invalidArgument, "cannot use CRI namespace with containerd driver");
  return "containerd";
}

function imagesOf({ cell }: HandlerContext, store: Store): readonly StoredImage[] {
  const pulled = (cell.state.images ?? [])
    .filter((image) => image.store === store)
    .flatMap((image) => namesOf(image.name).map((name) => ({ ...image, name })));
  const kubelet = activeFacts(cell.state)?.kubeletImage ?? "";
  const isRunning = cell.state.services["kubelet"]?.state === "Running";
  if (store !== "system" || kubelet === "" || !isRunning || pulled.some((image) => image.name === kubelet)) return pulled;
  return [{ store, name: kubelet, pulledAt: cell.state.bootedAt }, ...pulled];
}

function factsOf(image: StoredImage): {
  readonly name: string;
  readonly digest: string;
  readonly size: bigint;
  readonly createdAt: ReturnType<typeof timestampFromMs>;
} {
  return { name: image.name, digest: digestOf(image.name), size: BigInt(sizeOf(image.name)), createdAt: timestampFromMs(image.pulledAt) };
}

/** Under which names a pulled image is in the store. @see siderolabs/talos v1.13.9 `internal/pkg/containers/image/image.go` manageAliases */
export function namesOf(name: string): readonly string[] {
  return [...new Set([name, pinned(name), digestOf(name)])];
}

/** As containerd names it: a tag beside a digest says nothing. */
function normalised(reference: string): string {
  return reference.replace(/:[\w.-]+(@sha256:[0-9a-f]{64})$/, "$1");
}

/** The name by digest. */
function pinned(reference: string): string {
  const name = normalised(reference);
  return name.includes("@") ? name : `${name.replace(/:[\w.-]+$/, "")}@${digestOf(name)}`;
}

/** The content of an image is its name. */
function digestOf(name: string): string {
  return /@(sha256:[0-9a-f]{64})$/.exec(name)?.[1] ?? `sha256:${createHash("sha256").update(name).digest("hex")}`;
}

function sizeOf(name: string): number {
  return 10_000_000 + (Number.parseInt(digestOf(name).slice(7, 13), 16) % 90_000_000);
}
