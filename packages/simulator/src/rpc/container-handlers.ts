import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import type { HandlerContext } from "./context.ts";

/** Services that Talos runs in containers; the others are processes or goroutines of machined. */
const CONTAINERS = ["apid", "etcd", "kubelet", "trustd"];
/** The rest that shows as a process. */
const PROCESSES = ["containerd", "cri", "dashboard", "udevd"];
const FIRST_PID = 1_000;

interface RunningService {
  readonly id: string;
  readonly pid: number;
}

/** MachineService/Containers: services of Talos; the containers of Kubernetes belong to the workload API and are not simulated here. */
export function containers(context: HandlerContext, request: machine.ContainersRequest): machine.ContainersResponse {
  requireNamespace(request.namespace);
  const found = request.namespace === "system" ? running(context, CONTAINERS) : [];
  return create(machine.ContainersResponseSchema, {
    messages: [
      {
        containers: found.map(({ id, pid }) => ({
          namespace: "system",
          id,
          name: id,
          podId: id,
          image: id === "kubelet" || id === "etcd" ? `${id}:${context.cell.state.hardware.talosVersion}` : `talos/${id}`,
          pid,
          status: "RUNNING",
        })),
      },
    ],
  });
}

/** MachineService/LogsContainers: every service keeps a log. */
export function logsContainers({ cell }: HandlerContext): machine.LogsContainersResponse {
  return create(machine.LogsContainersResponseSchema, { messages: [{ ids: Object.keys(cell.state.services).toSorted() }] });
}

/** MachineService/Processes: init, and one for each running service that has a process. */
export function processes(context: HandlerContext): machine.ProcessesResponse {
  const seconds = Math.max(0, (context.world.clock.now() - context.cell.state.bootedAt) / 1000);
  const init = {
    pid: 1,
    ppid: 0,
    state: "S",
    threads: 12,
    cpuTime: seconds * 0.01,
    command: "init",
    executable: "/sbin/init",
    args: "/sbin/init",
  };
  const rest = running(context, [...CONTAINERS, ...PROCESSES]).map(({ id, pid }) => ({
    pid,
    ppid: 1,
    state: "S",
    threads: 8,
    cpuTime: seconds * 0.005,
    command: id,
    executable: `/usr/bin/${id}`,
    args: `/usr/bin/${id}`,
  }));
  return create(machine.ProcessesResponseSchema, { messages: [{ processes: [init, ...rest] }] });
}

function running({ cell }: HandlerContext, ids: readonly string[]): readonly RunningService[] {
  return ids
    .filter((id) => cell.state.services[id]?.state === "Running")
    .toSorted()
    .map((id) => ({ id, pid: FIRST_PID + [...CONTAINERS, ...PROCESSES].indexOf(id) }));
}

function requireNamespace(namespace: string): void {
  if (namespace !== "system" && namespace !== "k8s.io") throw new RpcError(grpcStatus.unknown, `namespace "${namespace}" not found`);
}
