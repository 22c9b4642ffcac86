import type { AddonResult, HelmFailureReason, HelmResult } from "@talos-operator/helm";
import { isManifestsResult } from "./read-manifests-result.ts";

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

/** What a worker of addons told; `undefined` for anything that is no result. Whether it is to be believed is another question. */
export function readAddonResult(message: string | undefined): AddonResult | undefined {
  try {
    const told: unknown = JSON.parse(message ?? "");
    return isResult(told) || isManifestsResult(told) ? told : undefined;
  } catch {
    // The kubelet cuts what is too long, and a worker that is killed tells nothing.
    return undefined;
  }
}

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isTime: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const shaped =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(checks).every(([name, check]) => check(Object.hasOwn(value, name) ? value[name] : undefined));

const isRevision = shaped({
  number: isCount,
  status: isText,
  chartVersion: isText,
  appVersion: optional(isText),
  at: isTime,
  inputs: optional(isText),
});

const isChart = shaped({
  name: isText,
  version: isText,
  appVersion: optional(isText),
  digest: (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value),
  kubeVersion: optional(isText),
});

const workloadKinds: readonly unknown[] = ["Deployment", "DaemonSet", "StatefulSet", "Job"];
const isObjectCount = shaped({
  total: isCount,
  workloads: listOf(shaped({ kind: (value) => workloadKinds.includes(value), namespace: isText, name: isText })),
});

const reasons: Readonly<Record<HelmFailureReason, true>> = {
  "helm-not-found": true,
  "cluster-unreachable": true,
  "cluster-refused": true,
  "repository-unreachable": true,
  "repository-refused": true,
  "chart-not-found": true,
  "chart-too-large": true,
  "chart-invalid": true,
  "digest-mismatch": true,
  "kubernetes-version": true,
  "values-invalid": true,
  "template-failed": true,
  "release-not-ours": true,
  "release-locked": true,
  "object-not-ours": true,
  "not-ready": true,
  "hook-failed": true,
  "api-refused": true,
  "release-too-large": true,
  "bad-task": true,
  "timed-out": true,
  failed: true,
};

const changeWords: readonly unknown[] = ["create", "change", "delete"];

const shapes: Readonly<Record<HelmResult["kind"], Check>> = {
  applied: shaped({
    revision: isRevision,
    chart: isChart,
    isNew: isFlag,
    adopted: optional(isFlag),
    history: listOf(isRevision),
    objects: isObjectCount,
    helm: isText,
  }),
  "rolled-back": shaped({ revision: isRevision, history: listOf(isRevision), objects: isObjectCount, helm: isText }),
  inspected: shaped({
    revision: isCount,
    drifted: listOf(shaped({ object: isText, isGone: isFlag, paths: listOf(isText), more: optional(isCount) })),
    total: isCount,
    helm: isText,
  }),
  previewed: shaped({
    chart: isChart,
    revision: optional(isCount),
    changes: listOf(
      shaped({ object: isText, change: (value) => changeWords.includes(value), fields: listOf(isText), more: optional(isCount) }),
    ),
    total: isCount,
    helm: isText,
  }),
  uninstalled: shaped({ wasThere: isFlag, helm: isText }),
  failed: shaped({
    reason: (value) => typeof value === "string" && Object.hasOwn(reasons, value),
    message: isText,
    mayRepeat: isFlag,
    chart: optional(isChart),
    history: optional(listOf(isRevision)),
    rolledBackTo: optional(isCount),
    helm: optional(isText),
  }),
};

function isResult(told: unknown): told is HelmResult {
  if (!isObject(told) || typeof told["kind"] !== "string" || !Object.hasOwn(shapes, told["kind"])) return false;
  return shapes[told["kind"] as HelmResult["kind"]](told);
}
