import type { TalosMachine } from "@talos-operator/api";
import { isConflict, isNotFound } from "@talos-operator/kube-runtime";
import type { ResourceClient } from "@talos-operator/kube-runtime";

/**
 * Writes into a TalosMachine the address that its reference gives now, unless it changed meanwhile: then the next pass looks again.
 *
 * @returns the new resourceVersion; `undefined` when nothing was written
 */
export async function followEndpoint(client: ResourceClient<TalosMachine>, machine: TalosMachine, to: string): Promise<string | undefined> {
  const { namespace, name, resourceVersion } = machine.metadata;
  const value = { metadata: { resourceVersion }, spec: { endpoint: to } };
  try {
    return (await client.patch({ namespace, name }, { type: "merge", value })).metadata.resourceVersion;
  } catch (thrown) {
    // Changed or deleted since it was seen.
    if (isConflict(thrown) || isNotFound(thrown)) return undefined;
    throw thrown;
  }
}
