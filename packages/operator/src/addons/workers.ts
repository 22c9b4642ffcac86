import { labels } from "@talos-operator/api";
import type { AddonResult } from "@talos-operator/helm";
import type { WorkerKind } from "../workers/worker-kind.ts";
import { readAddonResult } from "./read-result.ts";

/** Workers that drive Helm, and apply objects without it. */
export const addonWorkers: WorkerKind<AddonResult> = {
  component: "addon",
  command: "addon-worker",
  uidLabel: labels.addonUid,
  taskLabel: labels.addonTask,
  ownerAnnotation: "talos-operator.dev/addon-release",
  // Helm and what it starts write below their home, and the rest of the file system is read-only.
  environment: { HOME: "/scratch", TMPDIR: "/scratch" },
  readResult: readAddonResult,
};
