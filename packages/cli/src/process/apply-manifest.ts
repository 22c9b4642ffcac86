import { createHash } from "node:crypto";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { applyObject, resourceTypeOf, type NamedObject } from "./apply-object.ts";
import type { ManifestObject } from "./manifest.ts";

/** Holds the hash of what the manifest said of the object when it was last applied. */
const APPLIED_MANIFEST = "talos-operator.dev/applied-manifest";

/** Where kubectl keeps what it applied last: without it, `kubectl apply` of a file that says less takes nothing away. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Applies each object of which the manifest says something else than when it was last applied. What people edited since stays as they left it while the
 * manifest is the same: a restart must not take away, and wipe, a machine that was added by hand.
 */
export async function applyManifest(client: KubeClient, objects: readonly ManifestObject[]): Promise<readonly NamedObject[]> {
  const applied: NamedObject[] = [];
  for (const object of objects) applied.push(await applyNews(client, object));
  return applied;
}

async function applyNews(client: KubeClient, object: ManifestObject): Promise<NamedObject> {
  const type = await resourceTypeOf(client, object.apiVersion, object.kind);
  const namespace = type.namespaced ? { namespace: object.metadata.namespace ?? "default" } : {};
  const metadata = { annotations: {}, ...object.metadata, ...namespace };
  const said = JSON.stringify({ ...object, metadata });
  const hash = createHash("sha256").update(said).digest("hex");
  const stored = await client.resource<ManifestObject>(type).tryGet({ name: metadata.name, ...namespace });
  if (stored?.metadata.annotations?.[APPLIED_MANIFEST] === hash) return stored;
  const annotations = {
    ...metadata.annotations,
    [APPLIED_MANIFEST]: hash,
    // What is secret stands in its own place alone.
    ...(object.kind === "Secret" ? {} : { [LAST_APPLIED]: `${said}\n` }),
  };
  return applyObject(client, { ...object, metadata: { ...metadata, annotations } }, "talos-operator-cli");
}
