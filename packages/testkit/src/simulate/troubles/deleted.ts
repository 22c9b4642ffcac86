import { talosMachineResource } from "@talos-operator/api";
import { secretType } from "../../world/kinds.ts";
import { pick } from "../fault.ts";
import { CLUSTER_NAME, NAMESPACE } from "../scenario.ts";
import { begin, type TroubleInput } from "./input.ts";

/** Somebody deletes what the operator made, one object after the other: nothing of it is needed to go on, and nothing else goes with it. */
export async function deleteChildren(input: TroubleInput, lastsMs: number): Promise<void> {
  const { client, random, timers, trace, kind } = input;
  await begin(input, lastsMs);
  for (let n = 0; n < 4; n += 1) {
    const type = pick([talosMachineResource, secretType], random);
    const resource = client.resource(type);
    const { items } = await resource.list({ namespace: NAMESPACE });
    const names = items.map(({ metadata }) => metadata?.name ?? "").filter((name) => type !== secretType || isReplaceable(name));
    if (names.length > 0) {
      const name = pick(names, random);
      trace(`trouble ${kind}: ${type.plural} ${name}`);
      const key = { namespace: NAMESPACE, name };
      // Now and then with force.
      if (random.fraction() < 0.3) await resource.patch(key, { type: "merge", value: { metadata: { finalizers: null } } });
      if ((await resource.tryGet(key)) !== undefined) await resource.delete(key);
    }
    await timers.sleep(Math.floor(random.fraction() * 60_000));
  }
}

/** Keys are not: they are lost in other troubles. */
function isReplaceable(name: string): boolean {
  return name.startsWith(CLUSTER_NAME) && !/-bundle-\d+$/.test(name);
}
