import type { common, machine } from "@talos-operator/talos/protocol";
import { etcdRuns } from "../node/step.ts";
import type { HandlerContext } from "./context.ts";
import { runningEtcd } from "./etcd-handlers.ts";
import { requireControlPlane } from "./guards.ts";
import { chunksOfBytes } from "./log-handlers.ts";

/** After as many messages a part of the network's time has passed. */
const messagesPerPause = 64;

/**
 * MachineService/EtcdSnapshot: what the local member has, without asking the others. So it answers without a leader, and on a learner: a snapshot
 * is the only stream that etcd serves there.
 *
 * An etcd that stops in the middle ends the stream as if it were whole: machined reads through a pipe whose error nobody looks at.
 *
 * @see siderolabs/talos `internal/app/machined/internal/server/v1alpha1/v1alpha1_server.go`, etcd `server/etcdserver/api/v3rpc/interceptor.go`
 */
export async function* etcdSnapshot(context: HandlerContext, _request: machine.EtcdSnapshotRequest): AsyncIterable<common.Data> {
  requireControlPlane(context, "etcd snapshot");
  const { cell, world, signal } = context;
  const cluster = await runningEtcd(context);
  const memberId = cell.state.etcd.data?.memberId;
  const { callMs } = world.timings;
  let messages = 0;
  for (const chunk of chunksOfBytes(world.databases.snapshotOf(cell, cluster))) {
    if (!etcdRuns(cell.state) || cell.state.etcd.data?.memberId !== memberId) return;
    yield chunk;
    messages += 1;
    if (callMs > 0 && messages % messagesPerPause === 0) await world.timers.sleep(callMs, signal);
  }
}
