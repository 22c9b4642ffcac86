import { stored } from "./step-of.ts";
import type { StepWords } from "./step-of.ts";
import type { ClusterFacts } from "../model/record.ts";

/** The step to another endpoint that the record is about to take; `undefined` = it takes none. */
export function endpointStep(before: ClusterFacts | undefined, next: ClusterFacts): StepWords | undefined {
  const { endpoint, nextEndpoint } = next;
  if (nextEndpoint !== undefined && nextEndpoint !== before?.nextEndpoint)
    return {
      ...stored(nextEndpoint, (named) => `Ask the new endpoint ${named}. Nothing is sent before it leads to this cluster.`),
      effect: "waits",
    };
  return before?.nextEndpoint === endpoint
    ? stored(endpoint, (named) => `Lead workers and the kubeconfig to ${named}, which every control plane has by then.`)
    : undefined;
}
