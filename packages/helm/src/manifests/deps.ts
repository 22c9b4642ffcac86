import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Clock, Timers } from "@talos-operator/ports";

/** What a worker of manifests needs. */
export interface ManifestsDeps {
  /** Opens the API of the cluster that a kubeconfig leads to. */
  readonly open: (kubeconfig: string) => Promise<{ readonly client: KubeClient; close(): void }>;
  readonly fetch: FetchManifest;
  readonly clock: Clock;
  readonly timers: Pick<Timers, "sleep">;
  readonly signal: AbortSignal;
}

/** Fetches what stands at an address, by https and with a certificate that is trusted, over redirects to https alone. Never throws. */
export type FetchManifest = (url: string, limits: FetchLimits) => Promise<FetchedManifest>;

export interface FetchLimits {
  readonly bytes: number;
  /** For all of it. Milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type FetchedManifest =
  /** `sha256`: 64 hex digits of exactly these bytes. */
  | { readonly kind: "fetched"; readonly text: string; readonly sha256: string }
  | { readonly kind: "too-large" }
  /** `why` is for people, without the query of the address. */
  | { readonly kind: "failed"; readonly why: string };
