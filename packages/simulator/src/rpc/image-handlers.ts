import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { EmptySchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Empty } from "@bufbuild/protobuf/wkt";
import { common, machine } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import { activeFacts } from "../node/identity.ts";
import type { StoredImage } from "../node/machine.ts";
import type { HandlerContext } from "./context.ts";
import { talosVersionOfImage } from "./installer-images.ts";

type Store = StoredImage["store"];

/** MachineService/ImageList: what runs here, and what was pulled. */
export async function* imageList(context: HandlerContext, request: machine.ImageListRequest): AsyncIterable<machine.ImageListResponse> {
  const store = storeOf(request.namespace);
  await Promise.resolve();
  for (const image of imagesOf(context, store)) yield create(machine.ImageListResponseSchema, factsOf(image));
}

/** MachineService/ImagePull. */
export function imagePull(context: HandlerContext, request: machine.ImagePullRequest): machine.ImagePullResponse {
  pull(context, storeOf(request.namespace), request.reference);
  return create(machine.ImagePullResponseSchema, { messages: [{}] });
}

/** ImageService/List. */
export async function* imageServiceList(
  context: HandlerContext,
  request: machine.ImageServiceListRequest,
): AsyncIterable<machine.ImageServiceListResponse> {
  const store = storeOf(request.containerd?.namespace);
  await Promise.resolve();
  for (const image of imagesOf(context, store)) yield create(machine.ImageServiceListResponseSchema, factsOf(image));
}

/** ImageService/Pull: one layer, then the name. */
export async function* imageServicePull(
  context: HandlerContext,
  request: machine.ImageServicePullRequest,
): AsyncIterable<machine.ImageServicePullResponse> {
  const store = storeOf(request.containerd?.namespace);
  await Promise.resolve();
  pull(context, store, request.imageRef);
  const { DOWNLOADING, EXTRACT_COMPLETE } = machine.ImageServicePullLayerProgress_Status;
  const size = BigInt(sizeOf(request.imageRef));
  for (const [status, offset] of [
    [DOWNLOADING, 0n],
    [EXTRACT_COMPLETE, size],
  ] as const) {
    yield create(machine.ImageServicePullResponseSchema, {
      response: {
        case: "pullProgress",
        value: { layerId: digestOf(`${request.imageRef}/layer`), progress: { status, offset, total: size } },
      },
    });
  }
  yield create(machine.ImageServicePullResponseSchema, { response: { case: "name", value: request.imageRef } });
}

/** ImageService/Remove. */
export function imageServiceRemove(context: HandlerContext, request: machine.ImageServiceRemoveRequest): Empty {
  const store = storeOf(request.containerd?.namespace);
  const isThere = (context.cell.state.images ?? []).some((image) => image.store === store && image.name === request.imageRef);
  if (!isThere) throw new RpcError(grpcStatus.notFound, `image "${request.imageRef}" not found`);
  context.cell.dispatch({ kind: "image", store, name: request.imageRef, isThere: false });
  return create(EmptySchema);
}

/** Registries hold every image with a tag or digest, but of Talos only the installers of versions that can be simulated. */
function pull(context: HandlerContext, store: Store, reference: string): void {
  const isNamed = /^[\w.-]+(?::\d+)?(?:\/[\w.-]+)+(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?$/.test(reference) && /[:@]/.test(reference);
  const isInstaller = /\/[\w.-]*installer[\w.-]*[:/]/.test(reference);
  if (!isNamed || (isInstaller && talosVersionOfImage(reference) === undefined))
    throw new RpcError(grpcStatus.notFound, `failed to resolve reference "${reference}": ${reference}: not found`);
  context.cell.dispatch({ kind: "image", store, name: reference, isThere: true });
}

/** @throws RpcError INVALID_ARGUMENT for a store that a machine does not have */
function storeOf(namespace: common.ContainerdNamespace | undefined): Store {
  if (namespace === common.ContainerdNamespace.NS_SYSTEM) return "system";
  if (namespace === common.ContainerdNamespace.NS_CRI) return "cri";
  throw new RpcError(grpcStatus.invalidArgument, `unsupported containerd namespace ${namespace ?? 0}`);
}

function imagesOf({ cell }: HandlerContext, store: Store): readonly StoredImage[] {
  const pulled = (cell.state.images ?? []).filter((image) => image.store === store);
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

/** The content of an image is its name. */
function digestOf(name: string): string {
  return /@(sha256:[0-9a-f]{64})$/.exec(name)?.[1] ?? `sha256:${createHash("sha256").update(name).digest("hex")}`;
}

function sizeOf(name: string): number {
  return 10_000_000 + (Number.parseInt(digestOf(name).slice(7, 13), 16) % 90_000_000);
}
