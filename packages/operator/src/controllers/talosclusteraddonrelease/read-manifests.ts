import type { ManifestsSpec } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { ReadSource } from "../../addons/manifests-wish.ts";
import { configText } from "./read-values.ts";
import type { Read } from "./read-values.ts";

/** Texts of one release: they travel in a Secret, which takes a mebibyte. As JSON, bytes. */
const LARGEST_TEXTS = 900_000;

/** Reads what the operator's own API holds of a set of objects: inline texts and ConfigMaps. Addresses are fetched by the worker. @throws KubeApiError */
export async function readManifests(
  { sources }: ManifestsSpec,
  namespace: string,
  client: KubeClient,
): Promise<Read<readonly ReadSource[]>> {
  const read: ReadSource[] = [];
  for (const [index, { inline, configMapRef, url = "", sha256 = "" }] of sources.entries()) {
    if (configMapRef !== undefined) {
      const { name, key = "manifests.yaml" } = configMapRef;
      const map = await configText(name, key, false, namespace, client);
      if (map.kind === "missing") return { kind: "missing", reason: "ValuesNotFound", message: map.message };
      read.push({ source: { kind: "text", name: `ConfigMap ${name}, key ${key},` }, text: map.value ?? "" });
    } else if (inline !== undefined) read.push({ source: { kind: "text", name: `spec.manifests.sources[${index}].inline` }, text: inline });
    else read.push({ source: { kind: "url", url, sha256 } });
  }
  const bytes = Buffer.byteLength(JSON.stringify(read.map(({ text = "" }) => text)));
  if (bytes <= LARGEST_TEXTS) return { kind: "read", value: read };
  const message = `Inline texts and ConfigMaps have ${bytes} bytes, and ${LARGEST_TEXTS} are the most of one release. Serve them at a url, or make several addons.`;
  return { kind: "missing", reason: "ManifestsRefused", message };
}
