import { clusterRecordResource } from "@talos-operator/api";
import { createKubeClient, type KubeObject } from "@talos-operator/kube-runtime";
import type { KubeTransport, RandomSource, Timers } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import { pick } from "./fault.ts";
import { addressesOf, CLUSTER_NAME, NAMESPACE, type Scenario } from "./scenario.ts";

const secretType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true } as const;

/** What the world does to a cluster in one run, beside the crashes: at most one of these. */
export type TroubleKind =
  /** Somebody takes the finalizer off the bundle Secret and deletes it; minutes later it is put back from a backup. */
  | "bundle-lost"
  /** A machine is cut off the network for a while. */
  | "machine-cut-off"
  /** The operator's process stands still for longer than its lease; another takes over; then the first one goes on. */
  | "operator-paused";

export const TROUBLES: readonly TroubleKind[] = ["bundle-lost", "machine-cut-off", "operator-paused"];

export interface TroubleInput {
  readonly kind: TroubleKind;
  readonly random: RandomSource;
  readonly timers: Timers;
  readonly truth: KubeTransport;
  readonly datacenter: Datacenter;
  readonly scenario: Scenario;
  readonly pauseOperator: (ms: number) => void;
  /** Resolves when the ClusterRecord was written for the `n`-th time, before the writer hears of it. */
  readonly recordWritten: (n: number) => Promise<void>;
  readonly trace: (line: string) => void;
}

/** Earliest and latest begin, counted from the apply; creations take about four minutes. */
const EARLIEST_MS = 2_000;
const LATEST_MS = 200_000;

/** Lets the trouble happen. Resolves when everything is as it was before. */
export async function makeTrouble(input: TroubleInput): Promise<void> {
  const { kind, random, timers, trace } = input;
  // What an operator does next after it wrote down an intent is what a pause must not let it do late.
  if (kind === "operator-paused") await input.recordWritten(1 + Math.floor(random.fraction() * 4));
  else await timers.sleep(EARLIEST_MS + Math.floor(random.fraction() * (LATEST_MS - EARLIEST_MS)));
  const lastsMs = 20_000 + Math.floor(random.fraction() * 180_000);
  trace(`trouble ${kind} for ${lastsMs} ms`);
  switch (kind) {
    case "bundle-lost":
      await loseBundle(input, lastsMs);
      break;
    case "machine-cut-off": {
      const { controlPlanes, workers } = addressesOf(input.scenario);
      const machine = input.datacenter.machine(pick([...controlPlanes, ...workers], random));
      machine.setConnected(false);
      await timers.sleep(lastsMs);
      machine.setConnected(true);
      break;
    }
    case "operator-paused":
      input.pauseOperator(lastsMs);
      await timers.sleep(lastsMs);
      break;
  }
  trace(`trouble ${kind} is over`);
}

async function loseBundle({ truth, timers, trace }: TroubleInput, lastsMs: number): Promise<void> {
  const secrets = createKubeClient(truth).resource<KubeObject & { data?: object; type?: string; immutable?: boolean }>(secretType);
  const key = { namespace: NAMESPACE, name: `${CLUSTER_NAME}-bundle-1` };
  const records = createKubeClient(truth).resource(clusterRecordResource);
  // Before the record names them, keys have reached no machine, and may be made anew.
  while ((await records.tryGet({ namespace: NAMESPACE, name: CLUSTER_NAME })) === undefined) await timers.sleep(1000);
  const bundle = await secrets.tryGet(key);
  if (bundle === undefined) return;
  await secrets.patch(key, { type: "merge", value: { metadata: { finalizers: null } } });
  await secrets.delete(key);
  await timers.sleep(lastsMs);
  const { labels = {}, finalizers = [] } = bundle.metadata ?? {};
  const restored = { ...bundle, metadata: { ...key, labels, finalizers } };
  // A product that made new keys meanwhile has broken its promise; restoring over them would hide it.
  if ((await secrets.tryGet(key)) !== undefined) trace("the bundle was made anew by the operator");
  else await secrets.create(restored);
}
