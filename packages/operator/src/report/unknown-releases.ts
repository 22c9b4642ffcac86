import { conditionFor } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";
import { builtInCatalogue, compareVersions, tryParseVersion } from "@talos-operator/talos";
import { factsOf } from "../record/facts.ts";
import type { Observed } from "../model/observation.ts";

/**
 * The condition `ReleaseUnknown`: releases that are newer than those that this operator knows are used as they are asked for, and said until something runs them,
 * for a slip in a number looks the same.
 */
export function unknownReleases(seen: Observed): readonly ConditionInput[] {
  const { talos, kubernetes } = seen.releases?.catalogue ?? builtInCatalogue;
  const { spec, metadata } = seen.controlPlane;
  const running = new Set(seen.machines.map(({ look }) => (look.kind === "running" ? look.version : undefined)));
  const asked = [...new Set(seen.machines.map(({ declared }) => declared.version))].filter((version) => !running.has(version));
  const facts = factsOf(seen);
  const runs = facts?.bootstrapDone === undefined ? "" : facts.kubernetesVersion;
  const kubeVersion = spec?.kubeVersion ?? runs;
  const sentences = [
    ...asked.flatMap((version) => wordsFor("Talos", version, (minor) => talos.get(minor)?.newest)),
    ...(kubeVersion === runs ? [] : wordsFor("Kubernetes", kubeVersion, (minor) => kubernetes.get(minor))),
  ];
  if (sentences.length === 0) return [];
  const message = `${sentences.slice(0, 3).join(" ")} It is used as asked for. Check that the release exists.`;
  return [conditionFor("ReleaseUnknown", "NewerThanKnown", message, metadata.generation)];
}

function wordsFor(product: string, version: string, newestOf: (minor: number) => string | undefined): readonly string[] {
  const parsed = tryParseVersion(version);
  if (parsed === undefined || parsed.major !== 1) return [];
  const newest = newestOf(parsed.minor);
  const minor = `v1.${parsed.minor}`;
  if (newest === undefined) return [`${product} ${version} is not known to this operator: it knows no release of ${minor}.`];
  if (compareVersions(version, `v${newest}`) <= 0) return [];
  return [`${product} ${version} is not known to this operator: v${newest} is the newest of ${minor}.`];
}
