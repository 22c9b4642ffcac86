import { createHash } from "node:crypto";
import type { AddonChart, TalosClusterAddonReleaseSpec } from "@talos-operator/api";
import type { ChartRef, HelmOptions, ReleaseName } from "@talos-operator/helm";
import { helmOptionsOf } from "./helm-options.ts";

/** What a release should be made of. */
export interface ReleaseWish {
  readonly release: ReleaseName;
  readonly chart: ChartRef;
  readonly options: HelmOptions;
  /** YAML documents; a later one wins. */
  readonly values: readonly string[];
  /** Places of those of them that stand in Secrets. */
  readonly hidden?: readonly number[];
  /** Stands for all of it, and for the minor version of Kubernetes: 16 hex digits. */
  readonly inputs: string;
  /** Stands for repository, name and version of the chart as asked for: 16 hex digits. */
  readonly asked: string;
}

/**
 * What the spec asks for. Pure.
 *
 * @param resolved the chart that an earlier run resolved: it is pinned while repository, name and version asked for are the same
 * @param kubernetesVersion of the cluster; charts ask for its minor
 */
export function wishOf(
  spec: TalosClusterAddonReleaseSpec,
  values: readonly string[],
  kubernetesVersion: string,
  resolved: AddonChart | undefined,
  allowPlainText: boolean,
): ReleaseWish | undefined {
  const { helmSpec } = spec;
  if (helmSpec === undefined) return undefined;
  const { repoURL, chartName, version, digest, tlsConfig } = helmSpec;
  const release = { name: helmSpec.releaseName || chartName, namespace: helmSpec.namespace || "default" };
  const options = helmOptionsOf(helmSpec.options);
  const asked = hash([repoURL, chartName, version ?? "", digest ?? ""]);
  const pin = resolved?.asked === asked ? resolved : undefined;
  const [minor = ""] = /^v?\d+\.\d+/.exec(kubernetesVersion) ?? [];
  return {
    release,
    options,
    values,
    asked,
    // Only what a revision is made of: a longer time-out or another access to the repository makes none.
    inputs: hash([release, asked, values, settingsOf(options), spec.namespaceLabels ?? {}, minor]),
    chart: {
      repository: repoURL,
      name: chartName,
      ...(pin?.version === undefined ? (version ? { version } : {}) : { version: pin.version }),
      ...(pin?.digest === undefined ? (digest === undefined ? {} : { digest }) : { digest: pin.digest }),
      ...(tlsConfig?.insecureSkipTLSVerify === true ? { insecureSkipTLSVerify: true } : {}),
      ...(allowPlainText ? { allowPlainText } : {}),
    },
  };
}

/** The switches that change what is installed. */
function settingsOf({ disableHooks, skipCRDs, resetValues, reuseValues, resetThenReuseValues }: HelmOptions): unknown {
  return [disableHooks, skipCRDs, resetValues, reuseValues, resetThenReuseValues].map((one) => one ?? false);
}

function hash(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(value)))
    .digest("hex")
    .slice(0, 16);
}

/** Keys in one order: an object that is written anew makes no revision. */
export function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
