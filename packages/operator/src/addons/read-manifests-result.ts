import type { ManifestsFailureReason, ManifestsResult } from "@talos-operator/helm";

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const has =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(checks).every(([name, check]) => Object.hasOwn(value, name) && check(value[name]));

const reasons: Readonly<Record<ManifestsFailureReason, true>> = {
  "source-unreachable": true,
  "source-too-large": true,
  "manifests-invalid": true,
  "kind-not-served": true,
  "fields-not-ours": true,
  "digest-mismatch": true,
  "object-not-ours": true,
  "cluster-unreachable": true,
  "cluster-refused": true,
  "api-refused": true,
  "not-ready": true,
  "bad-task": true,
  "timed-out": true,
  failed: true,
};

const workloadKinds: readonly unknown[] = ["Deployment", "DaemonSet", "StatefulSet", "Job"];
const isKept = has({ total: isCount, names: isListOf(isText) });

const shapes: Readonly<Record<ManifestsResult["kind"], Check>> = {
  "manifests-applied": has({
    objects: isCount,
    workloads: isListOf(has({ kind: (value) => workloadKinds.includes(value), namespace: isText, name: isText })),
    pruned: isCount,
    kept: isKept,
    at: (value) => typeof value === "number" && Number.isFinite(value),
  }),
  "manifests-removed": has({ wasThere: (value) => typeof value === "boolean", deleted: isCount, kept: isKept }),
  "manifests-failed": has({
    reason: (value) => typeof value === "string" && Object.hasOwn(reasons, value),
    message: isText,
    mayRepeat: (value) => typeof value === "boolean",
  }),
};

/** Whether what a worker told is a result about a set of objects. Whether it is to be believed is another question. */
export function isManifestsResult(told: unknown): told is ManifestsResult {
  if (!isObject(told) || typeof told["kind"] !== "string" || !Object.hasOwn(shapes, told["kind"])) return false;
  return shapes[told["kind"] as ManifestsResult["kind"]](told);
}
