import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";

import { ContainerDriver } from "../gen/common/common_pb.ts";
import { ContainersRequestSchema, MachineService, RestartRequestSchema, StatsRequestSchema } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { EFFECT_TIMEOUT_MS, READ_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";

/** Whose containers: Talos's own services, or those of Kubernetes. */
export type ContainerNamespace = "system" | "k8s.io";

/** A container of the machine. */
export interface ContainerFacts {
  readonly namespace: string;
  /** `kubelet`, or `kube-system/coredns-x:coredns:0123456789ab`. */
  readonly id: string;
  readonly name: string;
  /** Empty for a service; `namespace/pod` for one of Kubernetes. */
  readonly podId: string;
  readonly image: string;
  /** 0 when it does not run. */
  readonly pid: number;
  /** `RUNNING`, `CONTAINER_EXITED`, `SANDBOX_READY`, ... */
  readonly status: string;
}

/** What one container uses. */
export interface ContainerUsageFacts {
  readonly namespace: string;
  readonly id: string;
  readonly podId: string;
  readonly name: string;
  readonly memoryBytes: number;
  /** CPU time used since its start, in nanoseconds. */
  readonly cpuNanoseconds: bigint;
}

export interface ContainerCalls {
  /** Default deadline 10 s. */
  containers(namespace: ContainerNamespace, options?: CallOptions): Promise<readonly ContainerFacts[]>;
  /** What containers use. Default deadline 10 s. */
  containerStats(namespace: ContainerNamespace, options?: CallOptions): Promise<readonly ContainerUsageFacts[]>;
  /** Restarts one container. Needs `os:operator`. Default deadline 30 s. `NODE_FAILED` when there is none of that id. */
  containerRestart(input: { readonly namespace: ContainerNamespace; readonly id: string }, options?: CallOptions): Promise<void>;
  /** Ids whose logs the machine keeps, for `logs`. Talos 1.7. Default deadline 10 s. */
  logsContainers(options?: CallOptions): Promise<readonly string[]>;
}

const CONTAINERS = methodOf(MachineService.method.containers);
const RESTART = methodOf(MachineService.method.restart);
const STATS = methodOf(MachineService.method.stats);
const LOGS_CONTAINERS = methodOf(MachineService.method.logsContainers);

export function containerCalls(caller: Caller): ContainerCalls {
  const of = (namespace: ContainerNamespace): { readonly namespace: string; readonly driver: ContainerDriver } => ({
    namespace,
    driver: namespace === "k8s.io" ? ContainerDriver.CRI : ContainerDriver.CONTAINERD,
  });
  return {
    async containers(namespace, options) {
      const part = await caller.one(CONTAINERS, create(ContainersRequestSchema, of(namespace)), READ_TIMEOUT_MS, options);
      return part.containers.map((container) => ({
        namespace: container.namespace,
        id: container.id,
        name: container.name,
        podId: container.podId,
        image: container.image,
        pid: container.pid,
        status: container.status,
      }));
    },
    async containerStats(namespace, options) {
      const part = await caller.one(STATS, create(StatsRequestSchema, of(namespace)), READ_TIMEOUT_MS, options);
      return part.stats.map((stat) => ({
        namespace: stat.namespace,
        id: stat.id,
        podId: stat.podId,
        name: stat.name,
        memoryBytes: Number(stat.memoryUsage),
        cpuNanoseconds: stat.cpuUsage,
      }));
    },
    async containerRestart({ namespace, id }, options) {
      await caller.one(RESTART, create(RestartRequestSchema, { ...of(namespace), id }), EFFECT_TIMEOUT_MS, options);
    },
    async logsContainers(options) {
      return (await caller.one(LOGS_CONTAINERS, create(EmptySchema), READ_TIMEOUT_MS, options)).ids;
    },
  };
}
