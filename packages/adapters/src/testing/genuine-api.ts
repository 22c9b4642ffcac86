import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { tool } from "./genuine-tools.ts";
import { ownAddress } from "./own-network.ts";

const run = promisify(execFile);
const scripts = join(import.meta.dirname, "../../../../hack/tools");

/** A genuine etcd and kube-apiserver on an address of the test file's own network. */
export interface GenuineApi {
  /** Holds `kubeconfig` of a member of `system:masters`, `pki/`, logs and pid files. */
  readonly folder: string;
  readonly kubeconfig: string;
  readonly address: string;
  readonly url: string;
  /** Stops all processes and deletes their data. */
  readonly stop: () => Promise<void>;
}

export interface GenuineApiOptions {
  /** What of kube-controller-manager runs. Default: nothing. */
  readonly controllers?: readonly string[];
  /** Flags for kube-apiserver beside the script's own. */
  readonly flags?: readonly string[];
}

/** Starts them and waits until they serve; the test file declares the parts. */
export async function startGenuineApi({ controllers = [], flags = [] }: GenuineApiOptions = {}): Promise<GenuineApi> {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-api-"));
  const address = ownAddress();
  const env = {
    ...process.env,
    BIN: dirname(tool("kube-apiserver")),
    ADDRESS: address,
    APISERVER_EXTRA: flags.join(" "),
    ...(controllers.length === 0 ? {} : { KCM: "1", KCM_CONTROLLERS: controllers.join(",") }),
  };
  const stop = async (): Promise<void> => {
    await run("bash", [join(scripts, "stop-apiserver.sh"), folder]);
    rmSync(folder, { recursive: true, force: true });
  };
  const log = join(folder, "start.log");
  try {
    // What the script leaves running keeps its output open, so that goes to a file and is not waited for.
    await run("bash", ["-c", '"$0" "$1" > "$2" 2>&1', join(scripts, "start-apiserver.sh"), folder, log], { env });
  } catch (error) {
    const text = readFileSync(log, "utf8");
    await stop();
    throw new Error(text, { cause: error });
  }
  return { folder, kubeconfig: join(folder, "kubeconfig"), address, url: `https://${address}:6443`, stop };
}
