import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt } from "../request/json.ts";
import { addAmounts, amountsIn, largerAmounts } from "./amounts.ts";
import type { Amounts } from "./amounts.ts";

/**
 * What a pod asks for, or may have at most, as a whole: its containers together, or its largest init container where that is more. Sidecars
 * run beside both.
 */
export function podAmounts(pod: JsonObject, side: "requests" | "limits"): Amounts {
  const spec = objectAt(pod, "spec");
  const of = (container: JsonObject): Amounts => amountsIn(objectAt(objectAt(container, "resources"), side));
  let running: Amounts = {};
  for (const container of objectsAt(spec, "containers")) running = addAmounts(running, of(container));
  let sidecars: Amounts = {};
  let starting: Amounts = {};
  for (const container of objectsAt(spec, "initContainers")) {
    if (container["restartPolicy"] === "Always") {
      running = addAmounts(running, of(container));
      sidecars = addAmounts(sidecars, of(container));
      starting = largerAmounts(starting, sidecars);
    } else {
      starting = largerAmounts(starting, addAmounts(of(container), sidecars));
    }
  }
  // What is said of the pod as a whole counts instead.
  const whole = amountsIn(objectAt(objectAt(spec, "resources"), side));
  const sum: Amounts = { ...largerAmounts(running, starting), ...whole };
  const overhead = amountsIn(objectAt(spec, "overhead"));
  const counted = Object.entries(overhead).filter(([name]) => side === "requests" || sum[name] !== undefined);
  return addAmounts(sum, Object.fromEntries(counted));
}
