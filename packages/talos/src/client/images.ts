import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";

import { ContainerDriver, ContainerdNamespace as Namespace } from "../gen/common/common_pb.ts";
import {
  ImageListRequestSchema,
  ImagePullRequestSchema,
  ImageService,
  ImageServiceListRequestSchema,
  ImageServicePullLayerProgress_Status as LayerStatus,
  ImageServicePullRequestSchema,
  MachineService,
} from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { refusePartError, STREAM_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";
import { isTalosError, TalosError } from "./errors.ts";
import { enumWord } from "./reply.ts";

/** Which store: `system` holds what Talos runs (kubelet, etcd, installer), `cri` what Kubernetes runs. */
export type ImageStore = "system" | "cri";

/** An image in a store of the machine. */
export interface ImageFacts {
  /** Reference, `registry.k8s.io/kube-apiserver:v1.36.1` or with a digest. */
  readonly name: string;
  /** `sha256:...` */
  readonly digest: string;
  readonly sizeBytes: number;
  /** Milliseconds since the epoch; `undefined` when not given. */
  readonly createdAt: number | undefined;
}

/** What a pull says: a layer's state, and at the end the name under which the image is in the store. */
export type ImagePullProgress =
  | {
      readonly kind: "layer";
      readonly layer: string;
      /** `downloading`, `download-complete`, `extracting`, `extract-complete`, `already-exists`, `unknown`. */
      readonly status: string;
      readonly offsetBytes: number;
      readonly totalBytes: number;
    }
  | { readonly kind: "done"; readonly name: string };

/**
 * Container images of a machine. Talos 1.13 has a service of its own for them; before, two calls of the machine service do the same.
 * `imageList` and `imagePull` ask the new one first and the old one where it does not exist, which changes nothing on the machine.
 */
export interface ImageCalls {
  /** Default deadline 600 s. Works in maintenance mode from Talos 1.13. */
  imageList(store: ImageStore, options?: CallOptions): Promise<readonly ImageFacts[]>;
  /**
   * Pulls an image through the machine's own mirrors and credentials. Harmless to repeat. Default deadline 600 s.
   *
   * The last item is `done`; up to Talos 1.12 it is the only one. Leaving the loop cancels the pull. Needs `os:operator`.
   *
   * @throws TalosError `NOT_FOUND` when the registry has no such image
   */
  imagePull(input: { readonly reference: string; readonly store: ImageStore }, options?: CallOptions): AsyncIterable<ImagePullProgress>;
}

const LIST = methodOf(ImageService.method.list);
const PULL = methodOf(ImageService.method.pull);
const LEGACY_LIST = methodOf(MachineService.method.imageList);
const LEGACY_PULL = methodOf(MachineService.method.imagePull);

const NAMESPACES: Readonly<Record<ImageStore, Namespace>> = { system: Namespace.NS_SYSTEM, cri: Namespace.NS_CRI };

export function imageCalls(caller: Caller): ImageCalls {
  return {
    async imageList(store, options) {
      try {
        return await collect(
          caller.stream(LIST, create(ImageServiceListRequestSchema, containerd(store)), STREAM_TIMEOUT_MS, options),
          factsOf,
        );
      } catch (thrown) {
        if (!isTalosError(thrown, "UNIMPLEMENTED")) throw thrown;
      }
      const request = create(ImageListRequestSchema, { namespace: NAMESPACES[store] });
      const facts = { node: options?.node ?? caller.channel.target.address, method: LEGACY_LIST.path };
      return collect(caller.stream(LEGACY_LIST, request, STREAM_TIMEOUT_MS, options), (image) => {
        refusePartError(image, facts);
        return factsOf(image);
      });
    },
    async *imagePull({ reference, store }, options) {
      let hasBegun = false;
      try {
        for await (const progress of pulled(caller, reference, store, options)) {
          hasBegun = true;
          yield progress;
        }
        return;
      } catch (thrown) {
        if (hasBegun || !isTalosError(thrown, "UNIMPLEMENTED")) throw thrown;
      }
      const request = create(ImagePullRequestSchema, { namespace: NAMESPACES[store], reference });
      await caller.one(LEGACY_PULL, request, STREAM_TIMEOUT_MS, options);
      yield { kind: "done", name: reference };
    },
  };
}

async function* pulled(
  caller: Caller,
  reference: string,
  store: ImageStore,
  options: CallOptions | undefined,
): AsyncGenerator<ImagePullProgress, void, undefined> {
  const request = create(ImageServicePullRequestSchema, { ...containerd(store), imageRef: reference });
  let isDone = false;
  for await (const { response } of caller.stream(PULL, request, STREAM_TIMEOUT_MS, options)) {
    if (response.case === "name") {
      isDone = true;
      yield { kind: "done", name: response.value };
    } else if (response.case === "pullProgress") {
      const { layerId, progress } = response.value;
      yield {
        kind: "layer",
        layer: layerId,
        status: enumWord(LayerStatus, progress?.status ?? -1),
        offsetBytes: Number(progress?.offset ?? 0n),
        totalBytes: Number(progress?.total ?? 0n),
      };
    }
  }
  if (isDone) return;
  const facts = { node: options?.node ?? caller.channel.target.address, method: PULL.path };
  throw new TalosError("UNAVAILABLE", facts, "the stream ended without the name of the image: it may not be complete");
}

/** Both stores are seen through the CRI driver: the other one refuses the store `cri` (`machine.ImageService`, Talos 1.13). */
function containerd(store: ImageStore): { readonly containerd: { readonly driver: ContainerDriver; readonly namespace: Namespace } } {
  return { containerd: { driver: ContainerDriver.CRI, namespace: NAMESPACES[store] } };
}

function factsOf(image: {
  readonly name: string;
  readonly digest: string;
  readonly size: bigint;
  readonly createdAt?: Parameters<typeof timestampMs>[0] | undefined;
}): ImageFacts {
  return {
    name: image.name,
    digest: image.digest,
    sizeBytes: Number(image.size),
    createdAt: image.createdAt === undefined ? undefined : timestampMs(image.createdAt),
  };
}

async function collect<T, R>(stream: AsyncIterable<T>, read: (item: T) => R): Promise<R[]> {
  const items: R[] = [];
  for await (const item of stream) items.push(read(item));
  return items;
}
