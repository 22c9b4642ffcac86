import { conditionFor } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";
import { machineAtEndpoint } from "../procedures/bootstrap/endpoint-founder.ts";
import { factsOf } from "../record/facts.ts";
import type { Observed } from "../model/observation.ts";

/** Where the Kubernetes API is reached when the spec does not say it; nothing before an address was taken, or where the spec names one. */
export function endpointChosen(seen: Observed): readonly ConditionInput[] {
  const { spec, metadata } = seen.controlPlane;
  const facts = factsOf(seen);
  if (facts === undefined || (spec?.endpoint ?? "") !== "") return [];
  const machine = machineAtEndpoint(seen, facts)?.declared.name;
  const where = `spec.endpoint is not set: clients and nodes reach the Kubernetes API at ${facts.endpoint}`;
  const [reason, message] =
    machine === undefined
      ? ([
          "NoMachine",
          `${where}, which is no listed control plane's address. Keep it leading to the API, or set spec.endpoint to an address that does.`,
        ] as const)
      : ([
          "FirstMachine",
          `${where}, the address of ${machine}. While ${machine} is away nobody reaches the API there. To move it, set spec.endpoint to a virtual address or a load balancer.`,
        ] as const);
  return [conditionFor("EndpointChosen", reason, message, metadata.generation)];
}
