import { parseEndpoint } from "@talos-operator/api";
import type { Seen } from "./model.ts";

/**
 * Control planes that hold the endpoint's address themselves go on holding it, whatever the spec says by now: settings follow at once, so they would let go of the
 * address that clients use before another one leads to them.
 */
export function withHeldEndpoint(seen: Seen): Seen {
  const { model, controlPlane } = seen;
  const url = controlPlane?.spec?.endpoint ?? "";
  if (model?.endpoint.mode !== "given" || model.endpoint.heldAddress === undefined || url === model.endpoint.url) return seen;
  const parsed = parseEndpoint(url);
  if (!("host" in parsed) || !JSON.stringify(controlPlane?.spec).includes("Layer2VIPConfig")) return seen;
  const why = `with endpointMode talosvip control planes keep ${url}, which they hold. Set endpointMode to custom, and write the new endpoint once they lead there`;
  return {
    ...seen,
    model: { ...model, endpoint: { mode: "given", url, heldAddress: parsed.host } },
    inertFields: [...seen.inertFields, { field: "spec.clusterEndpoint", why }],
  };
}
