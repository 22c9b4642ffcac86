import { chooseScenario } from "../scenario.ts";
import type { Workload } from "../workload.ts";

/** From nothing to Ready. */
export const create: Workload = {
  name: "create",
  about: "1, 3 or 5 control planes and up to 3 workers, from nothing to Ready",
  choose: (random) => chooseScenario(random),
  steps: () => [],
};
