import { leaseType } from "@talos-operator/kube-runtime";
import type { TroubleInput } from "./input.ts";

/** Longer than a lease: whoever led must stop, and may go on when the API answers again. Now and then the lease is gone as well. */
export async function loseLease({ kind, client, timers, trace, random, stage, startOperator }: TroubleInput): Promise<void> {
  const isAlone = random.fraction() < 0.5;
  if (!isAlone) startOperator();
  for (let n = 0; n < 3; n += 1) {
    await timers.sleep(5_000 + Math.floor(random.fraction() * 60_000));
    const lastsMs = 5_000 + Math.floor(random.fraction() * 40_000);
    const isDone = random.fraction() < 0.5;
    trace(`trouble ${kind} for ${lastsMs} ms`);
    stage.interference.kube = ({ method, path }) =>
      path.includes("/leases") && (method !== "GET" || random.fraction() < 0.5)
        ? { isDone, answer: Object.assign(new Error("connection reset"), { name: "KubeTransportFailure" }) }
        : undefined;
    await timers.sleep(lastsMs);
    stage.interference.kube = undefined;
    if (random.fraction() < 0.5) continue;
    const leases = client.resource(leaseType);
    for (const { metadata } of (await leases.list()).items)
      await leases.delete({ name: metadata?.name ?? "", namespace: metadata?.namespace });
  }
}
