import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import { connectionFailure } from "../datacenter/call-failure.ts";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import { memberHex, memberNumber, votersOf } from "../etcd/model.ts";
import type { EtcdCluster } from "../etcd/model.ts";
import { hasEnded } from "../node/etcd-service.ts";
import { etcdRuns } from "../node/step.ts";
import { etcdVersionOf, isAtLeast } from "../node/version.ts";
import type { EtcdAlarm } from "../node/machine.ts";
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
  return create(machine.EtcdStatusResponseSchema, {
    messages: [
      {
        memberStatus: {
          storageVersion: etcdVersion.replace(/\.\d+$/, ".0"),
          protocolVersion: etcdVersion,
          memberId: memberNumber(id),
          dbSize: 20_480n,
          dbSizeInUse: 16_384n,
          leader: cluster.leader === undefined ? 0n : memberNumber(cluster.leader),
          raftIndex: BigInt(cluster.raftIndex),
          raftTerm: BigInt(cluster.term),
          raftAppliedIndex: BigInt(cluster.raftIndex),
          errors: [...(cluster.leader === undefined ? ["etcdserver: no leader"] : []), ...alarmsOf(context, cluster).map(alarmText)],
          isLearner: cluster.members.find((member) => member.id === id)?.isLearner ?? false,
        },
      },
    ],
  });
}

interface RaisedAlarm {
  readonly memberId: bigint;
  readonly alarm: EtcdAlarm;
}

/** Every member knows the alarms of all. */
function alarmsOf({ world }: HandlerContext, cluster: EtcdCluster): readonly RaisedAlarm[] {
  return world.cells().flatMap(({ state }) => {
    const { data } = state.etcd;
    const isMember = data?.cluster === cluster.key && cluster.members.some(({ id }) => id === data.memberId);
    return state.etcdAlarm === undefined || !isMember ? [] : [{ memberId: memberNumber(data.memberId), alarm: state.etcdAlarm }];
  });
}

/** As Go prints etcd's AlarmMember, which is what a member's status has. */
function alarmText({ memberId, alarm }: RaisedAlarm): string {
  return `memberID:${memberId} alarm:${alarm} `;
}

function told(alarms: readonly RaisedAlarm[]): { memberId: bigint; alarm: machine.EtcdMemberAlarm_AlarmType }[] {
  return alarms.map(({ memberId, alarm }) => ({ memberId, alarm: machine.EtcdMemberAlarm_AlarmType[alarm] }));
}

/** MachineService/EtcdAlarmList */
export async function etcdAlarmList(context: HandlerContext): Promise<machine.EtcdAlarmListResponse> {
  requireControlPlane(context, "etcd alarm list");
  const cluster = await runningEtcd(context);
  return create(machine.EtcdAlarmListResponseSchema, { messages: [{ memberAlarms: told(alarmsOf(context, cluster)) }] });
}

/** MachineService/EtcdAlarmDisarm takes back every alarm there is; one whose cause is still there is raised again by etcd. */
export async function etcdAlarmDisarm(context: HandlerContext): Promise<machine.EtcdAlarmDisarmResponse> {
  requireControlPlane(context, "etcd alarm disarm");
  const cluster = await runningEtcd(context);
  const alarms = alarmsOf(context, cluster);
  for (const cell of context.world.cells()) if (cell.state.etcd.data?.cluster === cluster.key) cell.setEtcdAlarm(undefined);
  return create(machine.EtcdAlarmDisarmResponseSchema, { messages: [{ memberAlarms: told(alarms) }] });
}

/** MachineService/EtcdDefragment: the database holds nothing that could be given back. */
export async function etcdDefragment(context: HandlerContext): Promise<machine.EtcdDefragmentResponse> {
  requireControlPlane(context, "etcd defragment");
  await runningEtcd(context);
  return create(machine.EtcdDefragmentResponseSchema, { messages: [{}] });
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
  requireLeader(context, cluster);
  const removed = context.world.etcd.remove(cluster, memberHex(request.memberId), "removed");
  if (!removed.ok) {
    const code = removed.refusal === "etcdserver: member not found" ? grpcStatus.notFound : grpcStatus.unknown;
    throw new RpcError(code, `failed to remove member ${request.memberId}: ${removed.refusal}`);
  }
  return create(machine.EtcdRemoveMemberByIDResponseSchema, { messages: [{}] });
}

/** The etcd of this machine once its process runs; until then the call hangs, as the etcd client of a genuine node does. */
export async function runningEtcd(context: HandlerContext): Promise<EtcdCluster> {
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
