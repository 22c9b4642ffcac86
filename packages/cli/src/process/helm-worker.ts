import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@talos-operator/adapters";
import { createHelmBinary, createScratch } from "@talos-operator/helm/adapters";
import type { WorkerDeps } from "@talos-operator/helm/worker";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";

/** Longest answer of a cluster that is read. Helm keeps each revision in a Secret of up to a mebibyte and a third, and all of a release are listed at once. */
const MOST_BYTES = 128 * 2 ** 20;

/** Where a worker's Helm lies, and where it may write. */
export interface HelmWorkerOptions {
  /** Default: `helm` on the PATH. */
  readonly helm?: string | undefined;
  /** Default: the folder of the system for temporary files. */
  readonly scratchDirectory?: string | undefined;
}

/** Does one task with a Helm of its own, in a folder that only this user reads and that is gone afterwards. */
export async function withHelm<T>(signal: AbortSignal, options: HelmWorkerOptions, work: (deps: WorkerDeps) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(options.scratchDirectory ?? tmpdir(), "addon-"));
  chmodSync(folder, 0o700);
  try {
    return await work({
      async open(text: string) {
        const transport = createHttpsTransport({ ...(await loadKubeconfig({ text })).config, maxAnswerBytes: MOST_BYTES });
        return { client: createKubeClient(transport), close: () => transport.close() };
      },
      clock: systemClock,
      signal,
      helm: createHelmBinary(folder, signal, options.helm),
      scratch: createScratch(folder),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
