import { labels } from "@talos-operator/api";
import type { HelmResult } from "@talos-operator/helm";
import type { WorkerKind } from "../workers/worker-kind.ts";
import { readHelmResult } from "./read-result.ts";

/** Workers that drive Helm. */
export const addonWorkers: WorkerKind<HelmResult> = {
  component: "addon",
  command: "addon-worker",
  uidLabel: labels.addonUid,
  taskLabel: labels.addonTask,
  ownerAnnotation: "talos-operator.dev/addon-release",
  // Helm and what it starts write below their home, and the rest of the file system is read-only.
  environment: { HOME: "/scratch", TMPDIR: "/scratch" },
  readResult: readHelmResult,
};
