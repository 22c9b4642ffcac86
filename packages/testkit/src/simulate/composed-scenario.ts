import type { RandomSource } from "@talos-operator/ports";
import { pick } from "./fault.ts";
import { chooseScenario, type ProviderMood, type Scenario, type ScenarioChoices } from "./scenario.ts";

/** What is drawn of a KubernetesCluster where a workload does not say. */
export interface ComposedChoices extends ScenarioChoices {
  readonly moods?: readonly ProviderMood[];
  readonly endpoints?: readonly ("given" | "none")[];
}

/** Draws a scenario whose cluster is a KubernetesCluster. */
export function chooseComposed(random: RandomSource, { moods, endpoints, ...choices }: ComposedChoices = {}): Scenario {
  return {
    ...chooseScenario(random, { workers: [0, 1, 2], ...choices }),
    shape: pick(["flat", "nested"], random),
    provider: pick(moods ?? ["prompt", "prompt", "slow"], random),
    // Providers give machines of their own; clones are told apart in other lives.
    uuids: "own",
    ...(endpoints === undefined ? {} : { endpoint: pick(endpoints, random) }),
  };
}
