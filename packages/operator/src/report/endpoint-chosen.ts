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
          `${where}, which is no listed control plane's address. It cannot change any more: keep the address leading to the API.`,
        ] as const)
      : ([
          "FirstMachine",
          `${where}, the address of ${machine}. It cannot change any more: while ${machine} is away nobody reaches the API there.`,
        ] as const);
  return [conditionFor("EndpointChosen", reason, message, metadata.generation)];
}
