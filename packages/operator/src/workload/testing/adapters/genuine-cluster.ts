import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import type { KeyPair } from "@talos-operator/ports";

const hack = join(import.meta.dirname, "../../../../../../hack/tools");

/** A genuine etcd, kube-apiserver and disruption controller on loopback, authorized as Talos does it. */
export interface GenuineCluster {
  /** As `system:masters`. */
  readonly admin: KubeClient;
  readonly port: number;
  readonly authority: KeyPair;
  close(): void;
}

/** Starts the binaries of the folder `tools`. */
export async function startGenuineCluster(tools: string): Promise<GenuineCluster> {
  const folder = mkdtempSync(join(tmpdir(), "drain-real-"));
  const log = join(folder, "start.log");
  const env = {
    ...process.env,
    BIN: tools,
    KCM: "1",
    KCM_CONTROLLERS: "disruption-controller,serviceaccount-controller",
    APISERVER_EXTRA: "--authorization-mode=Node --enable-admission-plugins=NodeRestriction",
  };
  const started = spawnSync("bash", ["-c", '"$0" "$1" > "$2" 2>&1', join(hack, "start-apiserver.sh"), folder, log], { env });
  assert.equal(started.status, 0, readFileSync(log, "utf8"));
  const { config } = await loadKubeconfig({ path: join(folder, "kubeconfig") });
  const transport = createHttpsTransport(config);
  return {
    admin: createKubeClient(transport),
    port: Number(new URL(config.server).port),
    authority: { certificate: readFileSync(join(folder, "pki/ca.crt"), "utf8"), key: readFileSync(join(folder, "pki/ca.key"), "utf8") },
    close() {
      transport.close();
      spawnSync("bash", [join(hack, "stop-apiserver.sh"), folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
