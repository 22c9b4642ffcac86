import type { KubeRequest, KubeResponse, KubeWatchEvent, ObjectStoreFailure, TalosCallFailure } from "@talos-operator/ports";

/** What one call is answered instead of the truth. */
export interface Lie<A> {
  /** The call took place all the same; only its answer is another. */
  readonly isDone: boolean;
  readonly answer: A;
}

/** What a request to a Kubernetes API is answered. An error is a connection that broke, a function changes the true answer. */
export type KubeLie = Lie<KubeResponse | Error | ((truth: KubeResponse) => KubeResponse)>;

/** What stands between operators and the rest of the world while a trouble goes on; nothing where nothing is set. */
export interface Interference {
  /** Asked for each request to a Kubernetes API, and for each opening of a watch. */
  kube: ((request: KubeRequest) => KubeLie | undefined) | undefined;
  /** Asked for each call to a machine. */
  talos: ((path: string) => Lie<TalosCallFailure> | undefined) | undefined;
  /** Asked for each call to a store, and for each part of a body that is read. */
  store: ((call: StoreCall) => Lie<ObjectStoreFailure> | undefined) | undefined;
  /** Passes on the events of a watch that was opened. */
  watch: ((request: KubeRequest, events: AsyncIterable<KubeWatchEvent>) => AsyncIterable<KubeWatchEvent>) | undefined;
}

export function noInterference(): Interference {
  return { kube: undefined, talos: undefined, store: undefined, watch: undefined };
}

/** One call to a store. */
export interface StoreCall {
  readonly method:
    "list" | "head" | "get" | "put" | "createUpload" | "part" | "complete" | "listUploads" | "abortUpload" | "abort" | "remove";
  /** Or the prefix. */
  readonly key: string;
}
