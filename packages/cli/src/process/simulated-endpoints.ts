import type { EndpointProbe } from "@talos-operator/ports";
import type { SimulatedEndpoints } from "./workload-api.ts";

/**
 * Asks endpoints as simulated machines would: one that only their network has is held by their control planes, which are asked in its place. All others are asked
 * for as they are.
 */
export function askedInSimulation(simulated: SimulatedEndpoints, real: EndpointProbe): EndpointProbe {
  return {
    ask(target, options) {
      const url = URL.parse(target.endpoint);
      const at = url === null ? undefined : simulated.standInFor(url.hostname.replace(/^\[(.*)\]$/, "$1"), Number(url.port || 443));
      return real.ask(at === undefined ? target : { ...target, endpoint: `https://${at}` }, options);
    },
  };
}
