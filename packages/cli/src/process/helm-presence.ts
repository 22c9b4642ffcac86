import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { HelmPresence } from "@talos-operator/operator";
import type { Clock } from "@talos-operator/ports";

/** How long an answer is believed: whoever installs Helm waits no longer than this. Milliseconds. */
const FRESH_MS = 60_000;

/** Helm tells its version in tens of milliseconds; on a busy machine in seconds. Milliseconds. */
const VERSION_MS = 10_000;

/** Of Helm 3 the first that takes labels of releases and all switches of a task. */
const OLDEST = [3, 14] as const;

export interface HelmPlace {
  /** A path, from `--helm`. Default: `helm`, in the folders of `path`. */
  readonly binary?: string | undefined;
  /** As the environment variable PATH. */
  readonly path: string;
  readonly clock: Clock;
}

/** Looks for a genuine helm when it is first asked, and asks it for its version. An answer holds for a minute; those who ask meanwhile share it. */
export function createHelmPresence({ binary, path, clock }: HelmPlace): HelmPresence {
  let last: { readonly at: number; readonly answer: ReturnType<HelmPresence> } | undefined;
  return () => {
    const at = clock.now();
    if (last === undefined || Math.abs(at - last.at) >= FRESH_MS) last = { at, answer: look(binary, path) };
    return last.answer;
  };
}

async function look(binary: string | undefined, path: string): ReturnType<HelmPresence> {
  const file =
    binary ??
    path
      .split(delimiter)
      .map((folder) => join(folder, "helm"))
      .find(isProgram);
  if (file === undefined)
    return { found: false, message: "There is no helm on the PATH of the operator. Install Helm 4 or 3, or name it with --helm." };
  if (!isProgram(file)) return { found: false, message: `${file} is no program. Name the helm binary with --helm.` };
  const told = await versionOf(file);
  const [version, major = "", minor = ""] = /^v(\d+)\.(\d+)\.\S{1,40}/.exec(told ?? "") ?? [];
  if (version === undefined)
    return { found: false, message: `${file} does not report its version. Install Helm 4 or 3, or name it with --helm.` };
  const isOld = Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
  return isOld
    ? {
        found: false,
        message: `${file} is Helm ${version}, and ${OLDEST.join(".")} or newer is needed. Install Helm 4 or 3, or name it with --helm.`,
      }
    : { found: true, version };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or nothing that this user may run: the next folder may have one.
    return false;
  }
}

/** Nothing of the user's own Helm is read: its plugins could be run. */
function versionOf(file: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      file,
      ["version", "--template", "{{.Version}}"],
      { timeout: VERSION_MS, killSignal: "SIGKILL", maxBuffer: 65_536, env: { HOME: "/nonexistent", HELM_PLUGINS: "/nonexistent" } },
      (error, stdout) => resolve(error === null ? stdout.trim() : undefined),
    );
  });
}
