import { annotations, bundleSecretName, labels } from "@talos-operator/api";
import type { TalosControlPlane } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import {
  fingerprintSecretsBundle,
  isConfigError,
  parseSecretsBundle,
  parseSecretsBundleJson,
  secretsBundleFromMachineConfig,
} from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { secretText, secretType } from "../../secrets/secret.ts";
import type { Secret } from "../../secrets/secret.ts";
import type { ConfigBase } from "../../model/machine.ts";
import type { FoundBundle } from "../../model/adoption.ts";

/** All places that were looked at, and the keys of the first usable one. */
export interface FoundBundles {
  readonly places: readonly FoundBundle[];
  /** In memory only. */
  readonly bundle: SecretsBundle | undefined;
}

/** Keys under which bundles are known to be left: ours, both published operators', `talosctl gen secrets`, and a control plane's config. */
const KEYS = ["bundle", "secretBundle", "secrets.bundle", "secrets.yaml", "controlplane.yaml"] as const;

/**
 * Reads the keys of a cluster where others leave them: the Secret that a person names, `<name>-state`, `status.secretBundle`, and a bundle Secret of ours
 * that lost its record. Nothing is written.
 *
 * @param written the control planes' whole config that a person wrote, when an import is asked for: it may hold the keys too
 * @param isOwnAbsent a bundle Secret of ours was looked for a moment ago, and there is none
 *
 * @throws KubeApiError when a Secret cannot be read: then nobody knows
 */
export async function findBundles(
  client: KubeClient,
  controlPlane: TalosControlPlane,
  { written, isOwnAbsent = false }: { readonly written?: ConfigBase | undefined; readonly isOwnAbsent?: boolean } = {},
): Promise<FoundBundles> {
  const { namespace = "", name, annotations: words } = controlPlane.metadata;
  const secrets = client.resource<Secret>(secretType);
  const named = words?.[annotations.importBundle];
  const own = bundleSecretName(name, 1);
  const names = placesOf(controlPlane).filter((place) => place !== own || !isOwnAbsent);
  const read: (FoundBundle & { readonly bundle?: SecretsBundle })[] = [];
  for (const secretName of names) {
    const secret = await secrets.tryGet({ namespace, name: secretName });
    const source = `Secret ${secretName}`;
    if (secret === undefined) {
      if (secretName === named) read.push({ ...nothing(source), problem: "it does not exist" });
      continue;
    }
    const found = inSecret(secret, source, secretName === named);
    if (found !== undefined) read.push(found);
  }
  const told = controlPlane.status?.secretBundle;
  if (told !== undefined && told !== "") read.push(parsed(told, "status.secretBundle", "secretBundle"));
  // A config without keys is none of the places; one that holds some of them is refused as a spec.
  if (written?.fingerprint !== undefined) read.push(parsed(written.text.reveal(), written.source, "controlplane.yaml"));
  return { places: read.map(({ bundle: _keys, ...place }) => place), bundle: read.find((one) => one.bundle !== undefined)?.bundle };
}

/** Names of the Secrets that may hold the keys of a cluster, in the order in which they are read. */
export function placesOf({ metadata: { name, annotations: words } }: TalosControlPlane): readonly string[] {
  const named = words?.[annotations.importBundle];
  return [...new Set([...(named === undefined || named === "" ? [] : [named]), `${name}-state`, bundleSecretName(name, 1)])];
}

/** `undefined` for a Secret of that name without any keys in it: it is somebody else's. */
function inSecret(secret: Secret, source: string, isNamed: boolean): (FoundBundle & { readonly bundle?: SecretsBundle }) | undefined {
  const key = KEYS.find((one) => (secretText(secret, one) ?? "") !== "");
  if (key === undefined) return isNamed ? { ...nothing(source), problem: `it has none of the keys ${KEYS.join(", ")}` } : undefined;
  const marks = secret.metadata.labels ?? {};
  if (!isNamed && marks[labels.publishedType] !== "state" && marks[labels.secretKind] !== "bundle")
    return {
      ...nothing(source),
      problem: `nothing marks it as the state of this cluster; if it is, annotate ${annotations.importBundle}: ${secret.metadata.name}`,
    };
  return parsed(secretText(secret, key) ?? "", source, key);
}

function parsed(text: string, source: string, key: string): FoundBundle & { readonly bundle?: SecretsBundle } {
  try {
    const bundle =
      key === "controlplane.yaml"
        ? secretsBundleFromMachineConfig(text)
        : /^\s*\{/.test(text)
          ? parseSecretsBundleJson(text)
          : parseSecretsBundle(text);
    return { source, fingerprint: fingerprintSecretsBundle(bundle), clusterId: bundle.cluster.id, bundle };
  } catch (thrown) {
    // The message of the reader may quote the text.
    return { ...nothing(source), problem: `its key ${key} is no whole secrets bundle${isConfigError(thrown) ? ` (${thrown.code})` : ""}` };
  }
}

function nothing(source: string): FoundBundle {
  return { source, fingerprint: "", clusterId: "" };
}
