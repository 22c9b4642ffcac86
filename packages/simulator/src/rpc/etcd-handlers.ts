import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import { connectionFailure } from "../datacenter/call-failure.ts";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import { memberHex, memberNumber, votersOf } from "../etcd/model.ts";
import type { EtcdCluster } from "../etcd/model.ts";
import { nobodysId } from "../etcd/space.ts";
import type { RaisedAlarm } from "../etcd/space.ts";
import { hasEnded, isDefragmenting } from "../node/etcd-service.ts";
import { etcdRuns } from "../node/step.ts";
import { etcdVersionOf, isAtLeast, isAtLeastRelease } from "../node/version.ts";
import type { HandlerContext } from "./context.ts";
import { forever, requireControlPlane } from "./guards.ts";

/**
 * MachineService/Bootstrap. Looks only at its own data directory: two calls right after each other both succeed, and on two machines they
 * found two clusters.
 *
 * The whole of it runs under the call: the service etcd is stopped, and when it has ended another runner is loaded and started. A caller that goes away,
 * or whose deadline passes, ends it where it is: etcd is stopped then, and nothing starts it again but another Bootstrap or a boot. A runner that an
 * earlier Bootstrap started is stopped like any other. Pulling the image and beginning the data come after the answer, whoever called.
 *
 * @see siderolabs/talos `internal/app/machined/pkg/system/services/etcd.go` BootstrapEtcd
 */
export function bootstrap(
  context: HandlerContext,
  request: machine.BootstrapRequest,
): machine.BootstrapResponse | Promise<machine.BootstrapResponse> {
  demandBootstrapAllowed(context, request);
  const reply = create(machine.BootstrapResponseSchema, { messages: [{}] });
  context.cell.dispatch({ kind: "stop-etcd" });
  if (context.world.timings.etcdStopMs > 0) return startedWhenStopped(context).then(() => reply);
  context.cell.dispatch({ kind: "bootstrap" });
  return reply;
}

/** Waits for the end of the runner that was told to stop, then starts the one that begins an etcd. @throws RpcError when the caller has gone by then */
async function startedWhenStopped(context: HandlerContext): Promise<void> {
  const { cell, signal, world } = context;
  const demandCaller = (): void => {
    if (signal.aborted) throw new RpcError(grpcStatus.unknown, "failed to stop etcd: context canceled");
  };
  while (!hasEnded(cell.state)) {
    await Promise.race([changeOf(context), forever(signal)]);
    demandCaller();
  }
  // Unloading the old runner waits for its end once more.
  await world.timers.sleep(world.timings.callMs, signal).catch(demandCaller);
  demandCaller();
  if (cell.state.etcd.data !== undefined) throw new RpcError(grpcStatus.unknown, "etcd data directory is not empty");
  cell.dispatch({ kind: "stop-etcd" });
  cell.dispatch({ kind: "bootstrap" });
}

/** @throws RpcError */
function demandBootstrapAllowed(context: HandlerContext, request: machine.BootstrapRequest): void {
  const { state } = context.cell;
  if (state.services["cri"]?.state !== "Running") throw new RpcError(grpcStatus.failedPrecondition, "bootstrap is not available yet");
  if (isAtLeast(state.hardware.talosVersion, "1.13")) requireControlPlane(context, "bootstrap");
  else requireLegacyControlPlane(context);
  if (request.recoverEtcd) throw new RpcError(grpcStatus.unimplemented, "recovery from a snapshot is not simulated");
  if (state.etcd.data !== undefined) throw new RpcError(grpcStatus.alreadyExists, "etcd data directory is not empty");
}

function requireLegacyControlPlane(context: HandlerContext): void {
  try {
    requireControlPlane(context, "bootstrap");
  } catch (error) {
    throw new RpcError(grpcStatus.failedPrecondition, (error as Error).message);
  }
}

/** MachineService/EtcdMemberList: before bootstrap it hangs until the caller gives up. */
export async function etcdMemberList(context: HandlerContext): Promise<machine.EtcdMemberListResponse> {
  requireControlPlane(context, "member list");
  const cluster = await runningEtcd(context);
  requireLeader(context, cluster);
  return create(machine.EtcdMemberListResponseSchema, {
    messages: [
      {
        legacyMembers: cluster.members.map((member) => member.name),
        members: cluster.members.map((member) => ({
          id: memberNumber(member.id),
          hostname: member.name,
          peerUrls: [member.peerUrl],
          clientUrls: member.isStarted ? [member.clientUrl] : [],
          isLearner: member.isLearner,
        })),
      },
    ],
  });
}

/** MachineService/EtcdStatus of the local member, also without quorum. */
export async function etcdStatus(context: HandlerContext): Promise<machine.EtcdStatusResponse> {
  requireControlPlane(context, "etcd status");
  const cluster = await runningEtcd(context);
  const id = context.cell.state.etcd.data?.memberId ?? "0";
  const etcdVersion = etcdVersionOf(context.cell.state.hardware.talosVersion);
  const sizes = context.world.spaces.sizesOf(context.cell, cluster);
  const alarms = context.world.spaces.alarmsOf(cluster).map((alarm) => alarmText(alarm, etcdVersion));
  return create(machine.EtcdStatusResponseSchema, {
    messages: [
      {
        memberStatus: {
          storageVersion: cluster.storage === undefined ? etcdVersion.replace(/\.\d+$/, ".0") : `3.${cluster.storage}.0`,
          protocolVersion: etcdVersion,
          memberId: memberNumber(id),
          dbSize: BigInt(sizes.sizeBytes),
          dbSizeInUse: BigInt(sizes.inUseBytes),
          leader: cluster.leader === undefined ? 0n : memberNumber(cluster.leader),
          raftIndex: BigInt(cluster.raftIndex),
          raftTerm: BigInt(cluster.term),
          raftAppliedIndex: BigInt(cluster.raftIndex),
          errors: [...(cluster.leader === undefined ? ["etcdserver: no leader"] : []), ...alarms],
          isLearner: cluster.members.find((member) => member.id === id)?.isLearner ?? false,
        },
      },
    ],
  });
}

/**
 * As Go prints etcd's AlarmMember, which is what a member's status has. Nobody's id, which is 0, is left out. From 3.7 on the printer puts one space or two, as
 * its program was built, so that nobody relies on it.
 */
function alarmText({ memberId, alarm }: RaisedAlarm, etcdVersion: string): string {
  const isNew = isAtLeastRelease(etcdVersion, "3.7.0");
  const member = memberId === nobodysId ? "" : `memberID:${memberNumber(memberId)}${isNew ? "  " : " "}`;
  return `${member}alarm:${alarm}${isNew ? "" : " "}`;
}

function told(alarms: readonly RaisedAlarm[]): { memberId: bigint; alarm: machine.EtcdMemberAlarm_AlarmType }[] {
  return alarms.map(({ memberId, alarm }) => ({ memberId: memberNumber(memberId), alarm: machine.EtcdMemberAlarm_AlarmType[alarm] }));
}

/**
 * MachineService/EtcdAlarmList: the alarms of all members, as the local one knows them. Also to read them goes through raft: without a leader the client tries
 * again until the caller gives up.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/internal/server/v1alpha1/v1alpha1_server.go`, etcd v3.6.14 `server/etcdserver/v3_server.go` Alarm
 */
export async function etcdAlarmList(context: HandlerContext): Promise<machine.EtcdAlarmListResponse> {
  requireControlPlane(context, "etcd alarm list");
  const cluster = await agreeingEtcd(context, "failed to list etcd alarms");
  return create(machine.EtcdAlarmListResponseSchema, { messages: [{ memberAlarms: told(context.world.spaces.alarmsOf(cluster)) }] });
}

/** MachineService/EtcdAlarmDisarm takes back every alarm there is, whoever raised it and also CORRUPT; one whose cause is still there is raised again by etcd. */
export async function etcdAlarmDisarm(context: HandlerContext): Promise<machine.EtcdAlarmDisarmResponse> {
  requireControlPlane(context, "etcd alarm disarm");
  const cluster = await agreeingEtcd(context, "failed to disarm etcd alarm");
  const alarms = context.world.spaces.databaseOf(cluster.key)?.disarm() ?? [];
  return create(machine.EtcdAlarmDisarmResponseSchema, { messages: [{ memberAlarms: told(alarms) }] });
}

/**
 * MachineService/EtcdDefragment of the local member, with a leader or without. It answers when it is done; a caller who goes away ends nothing, and one who asks
 * while it runs waits for it and for another one after it. The file stays as it was when the process ends in the middle.
 */
export async function etcdDefragment(context: HandlerContext): Promise<machine.EtcdDefragmentResponse> {
  requireControlPlane(context, "etcd defragment");
  const { cell, signal, world } = context;
  const cluster = await startedEtcd(context);
  demandVoter(context, cluster, "failed to defragment etcd");
  cell.dispatch({ kind: "defragment", takes: world.spaces.defragmentTimeOf(cell, cluster) });
  const { bootId, etcd } = cell.state;
  const { ended = 0, queue = [] } = etcd.defragments ?? {};
  const own = ended + queue.length;
  while ((cell.state.etcd.defragments?.ended ?? 0) < own) {
    await Promise.race([changeOf(context), forever(signal)]);
    if (!etcdRuns(cell.state) || cell.state.bootId !== bootId || cell.state.etcd.defragments === undefined)
      throw new RpcError(
        grpcStatus.unavailable,
        "failed to defragment etcd: rpc error: code = Unavailable desc = error reading from server: EOF",
      );
  }
  return create(machine.EtcdDefragmentResponseSchema, { messages: [{}] });
}

/** A learner tells its status and nothing else. @see etcd v3.6.14 `server/etcdserver/api/v3rpc/util.go` isRPCSupportedForLearner */
function demandVoter({ cell }: HandlerContext, cluster: EtcdCluster, what: string): void {
  const own = cluster.members.find(({ id }) => id === cell.state.etcd.data?.memberId);
  if (own?.isLearner === true) throw new RpcError(grpcStatus.unknown, `${what}: etcdserver: rpc not supported for learner`);
}

/** The etcd of this machine when a majority agrees on what it is asked. */
async function agreeingEtcd(context: HandlerContext, what: string): Promise<EtcdCluster> {
  for (;;) {
    const cluster = await runningEtcd(context);
    demandVoter(context, cluster, what);
    if (context.world.etcd.isAvailable(cluster)) return cluster;
    await Promise.race([changeOf(context), forever(context.signal)]);
  }
}

/** MachineService/EtcdForfeitLeadership. */
export async function etcdForfeitLeadership(context: HandlerContext): Promise<machine.EtcdForfeitLeadershipResponse> {
  requireControlPlane(context, "etcd forfeit leadership");
  const cluster = await runningEtcd(context);
  requireLeader(context, cluster);
  if (cluster.leader !== context.cell.state.etcd.data?.memberId)
    return create(machine.EtcdForfeitLeadershipResponseSchema, { messages: [{}] });
  if (votersOf(cluster).length === 1)
    throw new RpcError(grpcStatus.unknown, "failed to forfeit leadership: cannot forfeit leadership, only one member");
  const moved = context.world.etcd.forfeit(cluster);
  if (moved === undefined) throw new RpcError(grpcStatus.unknown, "failed to forfeit leadership: etcdserver: unhealthy cluster");
  const leader = moved.members.find((member) => member.id === moved.leader);
  return create(machine.EtcdForfeitLeadershipResponseSchema, { messages: [{ member: leader?.name ?? "" }] });
}

/** MachineService/EtcdRemoveMemberByID: the id goes straight to etcd. */
export async function etcdRemoveMemberById(
  context: HandlerContext,
  request: machine.EtcdRemoveMemberByIDRequest,
): Promise<machine.EtcdRemoveMemberByIDResponse> {
  requireControlPlane(context, "etcd remove member");
  const cluster = await runningEtcd(context);
  const removed = context.world.etcd.remove(cluster, memberHex(request.memberId), "removed");
  if (!removed.ok) {
    const why = `failed to remove member ${request.memberId}: ${removed.refusal}`;
    if (removed.refusal === "etcdserver: member not found") throw new RpcError(grpcStatus.notFound, why);
    throw new RpcError(grpcStatus.unknown, `failed to remove member: ${why}`);
  }
  return create(machine.EtcdRemoveMemberByIDResponseSchema, { messages: [{}] });
}

/** The etcd of this machine once its process runs and answers; until then the call hangs, as the etcd client of a genuine node does. */
export async function runningEtcd(context: HandlerContext): Promise<EtcdCluster> {
  const { cell, signal } = context;
  for (;;) {
    const cluster = await startedEtcd(context);
    if (!isDefragmenting(cell.state)) return cluster;
    await Promise.race([changeOf(context), forever(signal)]);
  }
}

async function startedEtcd(context: HandlerContext): Promise<EtcdCluster> {
  const { cell, world } = context;
  while (!etcdRuns(cell.state)) {
    const changed = changeOf(context);
    await Promise.race([changed, forever(context.signal)]);
  }
  const cluster = world.etcd.of(cell);
  if (cluster === undefined) throw connectionFailure.broken();
  return cluster;
}

function changeOf({ cell, signal }: HandlerContext): Promise<void> {
  return new Promise((resolve) => {
    const end = cell.onChange(() => {
      end();
      resolve();
    });
    signal.addEventListener("abort", () => end(), { once: true });
  });
}

function requireLeader({ world }: HandlerContext, cluster: EtcdCluster): void {
  if (!world.etcd.isAvailable(cluster)) throw new RpcError(grpcStatus.unknown, "etcdserver: no leader");
}
