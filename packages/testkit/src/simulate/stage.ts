import type { KubeResponse } from "@talos-operator/ports";

/**
 * What a trouble does to the world beside machines and objects, and what it tells the invariants, so that these do not blame the operator for the
 * deeds of people.
 */
export interface Stage {
  /** Since when the bundle Secret is away or holds something else, by somebody's hand. */
  bundleGoneSince: number | undefined;
  /** Since when the cluster is paused by a person. */
  pausedSince: number | undefined;
  /** The record was deleted by somebody: what was written down is not known any more. */
  isRecordLost: boolean;
  /** Configurations that a machine may take once more, because it lost the first one. */
  mayRepeat: number;
  /** Which machine stands at an address now, where it is another one than in the beginning: address to the address that it had. */
  readonly routes: Map<string, string>;
  /** Addresses of machines that a person allowed to be configured again. */
  readonly approved: Set<string>;
  /** The next `times` reads whose path ends so are answered with this status. */
  answerReads(pathEnd: string, status: number, times: number): void;
  lie(path: string): KubeResponse | undefined;
  /** Watches tell nothing until `resumeWatches`; then they tell everything. */
  freezeWatches(): void;
  resumeWatches(): void;
  watchesGoOn(): Promise<void>;
}

export function createStage(): Stage {
  const lies: { readonly pathEnd: string; readonly status: number; times: number }[] = [];
  let frozen: { readonly over: Promise<void>; readonly end: () => void } | undefined;
  return {
    bundleGoneSince: undefined,
    pausedSince: undefined,
    isRecordLost: false,
    mayRepeat: 0,
    routes: new Map(),
    approved: new Set(),
    answerReads(pathEnd, status, times) {
      lies.push({ pathEnd, status, times });
    },
    lie(path) {
      const found = lies.find((one) => one.times > 0 && path.endsWith(one.pathEnd));
      if (found === undefined) return undefined;
      found.times -= 1;
      const reason = found.status === 404 ? "NotFound" : "InternalError";
      const body = { kind: "Status", apiVersion: "v1", status: "Failure", reason, code: found.status, message: "a lie" };
      return { status: found.status, headers: {}, body };
    },
    freezeWatches() {
      if (frozen !== undefined) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      frozen = { over: promise, end: resolve };
    },
    resumeWatches() {
      frozen?.end();
      frozen = undefined;
    },
    watchesGoOn: async () => frozen?.over,
  };
}
