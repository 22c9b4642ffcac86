import { create } from "@bufbuild/protobuf";
import { cluster } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import type { Cell } from "../datacenter/cell.ts";
import { activeFacts, isControlPlane, isSameCluster } from "../node/identity.ts";
import type { HandlerContext } from "./context.ts";
import { requireControlPlane } from "./guards.ts";

/** One line of the check: what is waited for, and what still hinders it. */
interface Check {
  readonly words: string;
  readonly problem: (cells: readonly Cell[], context: HandlerContext) => string | undefined;
}

const checks: readonly Check[] = [
  { words: "discovered nodes", problem: () => undefined },
  {
    words: "etcd to be healthy",
    problem: (cells) => silent(cells.filter(isMember), (cell) => cell.state.services["etcd"]?.isHealthy === true, "etcd is not healthy"),
  },
  {
    words: "etcd members to be consistent across nodes",
    problem: (cells) =>
      new Set(cells.filter(isMember).map((cell) => cell.state.etcd.data?.cluster)).size > 1
        ? "control planes are members of different etcd clusters"
        : undefined,
  },
  {
    words: "etcd members to be control plane nodes",
    problem: (cells) => silent(cells.filter(isMember), (cell) => cell.state.etcd.data !== undefined, "no etcd member"),
  },
  {
    words: "apid to be ready",
    problem: (cells) => silent(cells, (cell) => cell.state.services["apid"]?.state === "Running", "apid is not running"),
  },
  { words: "all nodes memory sizes", problem: () => undefined },
  { words: "all nodes disk sizes", problem: () => undefined },
  {
    words: "kubelet to be healthy",
    problem: (cells) => silent(cells, (cell) => cell.state.services["kubelet"]?.isHealthy === true, "kubelet is not healthy"),
  },
  {
    words: "all nodes to finish boot sequence",
    problem: (cells) => silent(cells, (cell) => cell.state.stage === "running", "not running"),
  },
  { words: "all k8s nodes to report", problem: (cells) => silent(cells, (cell) => cell.state.kubernetes.isNodeRegistered, "no Node") },
  {
    words: "all control plane static pods to be running",
    problem: (cells) => silent(cells.filter(isMember), (cell) => cell.state.kubernetes.hasStaticPods, "missing static pods"),
  },
  { words: "all control plane components to be ready", problem: () => undefined },
  {
    words: "all k8s nodes to report ready",
    problem: (cells) => silent(cells, (cell) => cell.state.kubernetes.isNodeReady, "Node is not ready"),
  },
  { words: "kube-proxy to report ready", problem: () => undefined },
  { words: "coredns to report ready", problem: () => undefined },
  { words: "all k8s nodes to report schedulable", problem: () => undefined },
];

const defaultWaitMs = 300_000;
const pollMs = 1_000;

/**
 * ClusterService/HealthCheck: lines "waiting for X: ...", each until it is OK; the failure is the status of the stream.
 */
export async function* healthCheck(
  context: HandlerContext,
  request: cluster.HealthCheckRequest,
): AsyncIterable<cluster.HealthCheckProgress> {
  requireControlPlane(context, "health check");
  const { world, signal } = context;
  const waitMs = request.waitTimeout === undefined ? defaultWaitMs : Number(request.waitTimeout.seconds) * 1000;
  const until = world.clock.now() + waitMs;
  for (const check of checks) {
    let shown: string | undefined;
    for (;;) {
      const problem = check.problem(peersOf(context), context);
      const words = `waiting for ${check.words}: ${problem ?? "OK"}`;
      if (words !== shown)
        yield create(cluster.HealthCheckProgressSchema, { message: shown === undefined && problem === undefined ? words : words });
      shown = words;
      if (problem === undefined) break;
      if (world.clock.now() >= until) throw new RpcError(grpcStatus.deadlineExceeded, "healthcheck error: context deadline exceeded");
      await world.timers.sleep(pollMs, signal);
    }
  }
}

function peersOf({ world, cell }: HandlerContext): readonly Cell[] {
  const own = activeFacts(cell.state);
  return world.cells().filter((other) => isSameCluster(own, activeFacts(other.state)));
}

function isMember(cell: Cell): boolean {
  return isControlPlane(cell.state);
}

function silent(cells: readonly Cell[], isFine: (cell: Cell) => boolean, words: string): string | undefined {
  const bad = cells.filter((cell) => cell.state.power !== "on" || !cell.state.isConnected || !isFine(cell));
  return bad.length === 0 ? undefined : `${words}: ${bad.map((cell) => cell.address).join(", ")}`;
}
