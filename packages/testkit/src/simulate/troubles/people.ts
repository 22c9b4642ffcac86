import { annotations, talosControlPlaneResource } from "@talos-operator/api";
import { isNotFound } from "@talos-operator/kube-runtime";
import type { ResourceType } from "@talos-operator/kube-runtime";
import type { SimulatedMachine } from "@talos-operator/simulator";
import { isComposed, type Scenario } from "../scenario.ts";
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

/** A person pauses the cluster for a while: the object that was applied. */
export async function pauseCluster(input: TroubleInput, lastsMs: number): Promise<void> {
  const { client, timers, stage, now, scenario } = input;
  await begin(input, lastsMs);
  const objects = client.resource(appliedType(scenario));
  const write = async (mode: string | null): Promise<boolean> => {
    const value = { metadata: { annotations: { [annotations.reconcileMode]: mode } } };
    try {
      await objects.patch(ofCluster, { type: "merge", value });
      return true;
    } catch (thrown) {
      // Whoever deletes a cluster leaves nothing to pause.
      if (!isNotFound(thrown)) throw thrown;
      return false;
    }
  };
  if (!(await write("disable"))) return;
  const until = now() + lastsMs;
  // A KubernetesCluster hands the word on to its pools.
  if (isComposed(scenario)) while (now() < until && !(await isPoolPaused(input))) await timers.sleep(1_000);
  stage.pausedSince = now();
  await timers.sleep(Math.max(0, until - now()));
  // An edit that says what is to be done with the cluster, or a cluster that was made anew, has ended it.
  if (stage.pausedSince === undefined) return;
  stage.pausedSince = undefined;
  await write(stage.desired?.mode ?? null);
}

async function isPoolPaused({ client }: TroubleInput): Promise<boolean> {
  const pool = await client.resource(talosControlPlaneResource).tryGet(ofCluster);
  return pool?.metadata?.annotations?.[annotations.reconcileMode] === "disable";
}

function appliedType({ shape }: Scenario): ResourceType {
  if (shape === "pools") return talosControlPlaneResource;
  if (shape === "cluster") return { ...talosControlPlaneResource, kind: "TalosCluster", plural: "talosclusters" };
  return { ...talosControlPlaneResource, group: "vitistack.io", kind: "KubernetesCluster", plural: "kubernetesclusters" };
}
