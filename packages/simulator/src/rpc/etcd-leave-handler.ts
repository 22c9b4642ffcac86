import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import { memberNumber } from "../etcd/model.ts";
import { memberShown } from "../resources/member-shown.ts";
import type { HandlerContext } from "./context.ts";
import { requireControlPlane } from "./guards.ts";

/** How long it waits until the machine shows a member as its own. */
const memberWaitMs = 3 * 60_000;
/** A removal that etcd calls unhealthy is tried again so often, and for so long. */
const removeAgainMs = 10_000;
const removeGivesUpMs = 5 * 60_000;

/**
 * MachineService/EtcdLeaveCluster: the machine removes its own member, stops etcd and empties its data directory.
 *
 * All of it runs under the context of the call. A caller that dies after the removal leaves etcd with the data of a removed member: it never joins with it, and
 * etcd is restarted for ever. One that dies while etcd stops leaves it `Finished` with the data. Asked again then, the machine shows no member as its own: three
 * minutes later the call fails. Afterwards etcd stays `Finished` until the next boot, where the machine joins anew.
 *
 * @see siderolabs/talos v1.13.9 `internal/pkg/etcd/etcd.go` LeaveCluster, `internal/pkg/etcd/local.go` GetLocalMemberID
 */
export async function etcdLeaveCluster(context: HandlerContext): Promise<machine.EtcdLeaveClusterResponse> {
  requireControlPlane(context, "etcd leave");
  const { cell, world } = context;
  const id = await localMember(context);
  await removeOwn(context, id);
  const { bootId } = cell.state;
  // etcd is told to stop, and does so whoever waits for it.
  cell.dispatch({ kind: "etcd-left", how: "stopped" });
  await pause(context, world.timings.etcdShutdownMs);
  // What a reboot has ended, no call goes on with.
  if (cell.state.bootId === bootId) cell.dispatch({ kind: "etcd-left", how: "emptied" });
  return create(machine.EtcdLeaveClusterResponseSchema, { messages: [{}] });
}

/** The member that the machine shows as its own: while etcd runs and is healthy. */
async function localMember(context: HandlerContext): Promise<string> {
  const { cell, world } = context;
  const until = world.clock.now() + memberWaitMs;
  for (;;) {
    const id = memberShown(cell.state, world.etcd.of(cell));
    if (id !== undefined) return id;
    if (world.clock.now() >= until) throw failed("failed to get local etcd member ID: context deadline exceeded", grpcStatus.unknown);
    const waiting = new AbortController();
    const changed = new Promise<void>((resolve) => {
      const end = cell.onChange(resolve);
      waiting.signal.addEventListener("abort", end, { once: true });
    });
    try {
      await Promise.race([changed, pause(context, until - world.clock.now(), waiting.signal)]);
    } finally {
      waiting.abort();
    }
  }
}

async function removeOwn(context: HandlerContext, id: string): Promise<void> {
  const { cell, world } = context;
  const until = world.clock.now() + removeGivesUpMs;
  for (;;) {
    const cluster = world.etcd.of(cell);
    const removed = cluster === undefined ? undefined : world.etcd.remove(cluster, id, "removed");
    // Somebody was first: nothing is left to do.
    if (removed === undefined || removed.ok || removed.refusal === "etcdserver: member not found") return;
    if (removed.refusal !== "etcdserver: unhealthy cluster" || world.clock.now() >= until)
      throw failed(`failed to remove member ${memberNumber(id)}: ${removed.refusal}`, grpcStatus.unknown);
    await pause(context, removeAgainMs);
  }
}

/** Waits, and fails when the caller gives up. */
async function pause({ world, signal }: HandlerContext, ms: number, over?: AbortSignal): Promise<void> {
  const either = over === undefined ? signal : AbortSignal.any([signal, over]);
  try {
    if (!signal.aborted) await world.timers.sleep(ms, either);
  } catch {
    // Why it ended is looked at below: only a caller that gave up fails the call.
  }
  if (signal.aborted) throw failed("context canceled", grpcStatus.cancelled);
}

function failed(why: string, code: number): RpcError {
  return new RpcError(code, `failed to leave cluster: ${why}`);
}
