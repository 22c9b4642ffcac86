import { annotations, talosControlPlaneResource } from "@talos-operator/api";
import type { SimulatedMachine } from "@talos-operator/simulator";
import { wordFor } from "../words.ts";
import { begin, ofCluster, readRecord, type TroubleInput } from "./input.ts";

/** A person looks at a machine that the operator stopped at, and allows it. */
export async function confirmMachine(
  input: Pick<TroubleInput, "client" | "timers" | "trace" | "stage">,
  machine: SimulatedMachine,
): Promise<void> {
  const { client, timers, trace, stage } = input;
  const { address } = machine;
  stage.mayRepeat += 1;
  for (let n = 0; n < 40 && machine.state.config.active === undefined; n += 1) {
    await timers.sleep(15_000);
    const record = await readRecord(input);
    const all = [...(record?.spec.knownControlPlanes ?? []), ...(record?.spec.knownWorkers ?? [])];
    const known = all.find((one) => one.address === address);
    if (known === undefined || machine.state.stage !== "maintenance" || stage.approved.has(address)) continue;
    // Not before the operator had the time to do the wrong thing.
    if (n < 4) continue;
    const controlPlanes = client.resource(talosControlPlaneResource);
    // There is nobody to tell while the cluster is deleted.
    if ((await controlPlanes.tryGet(ofCluster)) === undefined) continue;
    trace(`a person allows ${address}`);
    stage.approved.add(address);
    await controlPlanes.patch(ofCluster, {
      type: "merge",
      value: { metadata: { annotations: { [annotations.approveReprovision]: wordFor(record, address) } } },
    });
  }
}

/** A person pauses the cluster for a while. */
export async function pauseCluster(input: TroubleInput, lastsMs: number): Promise<void> {
  const { client, timers, stage, now, scenario } = input;
  await begin(input, lastsMs);
  const type =
    scenario.shape === "cluster"
      ? { ...talosControlPlaneResource, kind: "TalosCluster", plural: "talosclusters" }
      : talosControlPlaneResource;
  const objects = client.resource(type);
  await objects.patch(ofCluster, { type: "merge", value: { metadata: { annotations: { [annotations.reconcileMode]: "disable" } } } });
  stage.pausedSince = now();
  await timers.sleep(lastsMs);
  stage.pausedSince = undefined;
  await objects.patch(ofCluster, { type: "merge", value: { metadata: { annotations: { [annotations.reconcileMode]: null } } } });
}
