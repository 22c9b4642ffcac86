import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Clock } from "@talos-operator/ports";

/** What a worker needs: one scratch folder, the binary, and the cluster. */
export interface WorkerDeps {
  readonly helm: HelmBinary;
  readonly scratch: Scratch;
  /** Opens the API of the cluster that a kubeconfig leads to. */
  readonly open: (kubeconfig: string) => Promise<{ readonly client: KubeClient; close(): void }>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The genuine helm. Its homes and its kubeconfig are below the scratch folder; it inherits nothing else but the PATH. */
export interface HelmBinary {
  /** Runs it once. What it prints is cut after a mebibyte of each stream. */
  run(args: readonly string[], options: HelmCall): Promise<HelmEnd>;
}

export interface HelmCall {
  /** After this it is killed with everything it started. Milliseconds. */
  readonly timeoutMs: number;
  /** Given on standard input. */
  readonly input?: string;
  /** It may ask for `http://` addresses. Default: false: whatever a repository leads to, such as the metadata of a cloud, is asked for by https alone. */
  readonly mayBePlain?: boolean;
}

export interface HelmEnd {
  /** `not-found`: there is no such binary; `killed`: its time was over, or the worker was asked to stop; `too-large`: it took more memory than a chart needs. */
  readonly kind: "exited" | "killed" | "too-large" | "not-found";
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Files of one run, for its owner alone, gone with it. */
export interface Scratch {
  /** Writes a file. @returns its path */
  write(name: string, text: string): string;
  /** Makes a folder. @returns its path */
  folder(name: string): string;
  /** The only file in a folder; `undefined` when there is none, or several. */
  only(folder: string): ScratchFile | undefined;
  gzip(bytes: Buffer): Buffer;
  gunzip(bytes: Buffer): Buffer;
}

export interface ScratchFile {
  readonly path: string;
  readonly bytes: number;
  /** SHA-256, hex. */
  sha256(): Promise<string>;
  /** Bytes that a gzip stream unpacks to; stops counting above `limit` and returns more than it. `undefined` = it is no gzip. */
  unpackedBytes(limit: number): Promise<number | undefined>;
}
