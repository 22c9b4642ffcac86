import { ClusterService } from "../gen/cluster/cluster_pb.ts";
import { State } from "../gen/cosi/resource/resource_pb.ts";
import { ImageService, MachineService } from "../gen/machine/machine_pb.ts";
import { StorageService } from "../gen/storage/storage_pb.ts";
import type { TalosClient } from "../client/client.ts";

/** Calls of the client that only look. Everything else needs a connection to the machine itself. */
const LOOKS = [
  "clusterHealth",
  "disks",
  "diskStats",
  "dmesg",
  "etcdAlarmList",
  "etcdMemberList",
  "etcdStatus",
  "events",
  "imageList",
  "list",
  "loadAverage",
  "logs",
  "logsContainers",
  "memory",
  "mounts",
  "networkDeviceStats",
  "processes",
  "processors",
  "serviceList",
  "systemStat",
  "version",
] as const satisfies readonly (keyof TalosClient)[];

/**
 * The calls that may go through another machine: none of them changes anything, hands out a key, or reads what only `os:admin` may.
 *
 * Not among them, though they change nothing: `etcdSnapshot`, which would pass through two machines, and `readText`, `bootId` and `kubeconfig`, whose
 * answers nobody in between should hold.
 */
export type TalosLooks = Pick<TalosClient, (typeof LOOKS)[number] | "resources">;

/** The same as paths: what a session refuses to send is refused whatever the types say. */
export const LOOK_PATHS: ReadonlySet<string> = new Set(
  [
    ClusterService.method.healthCheck,
    ImageService.method.list,
    MachineService.method.cPUInfo,
    MachineService.method.diskStats,
    MachineService.method.dmesg,
    MachineService.method.etcdAlarmList,
    MachineService.method.etcdMemberList,
    MachineService.method.etcdStatus,
    MachineService.method.events,
    MachineService.method.imageList,
    MachineService.method.list,
    MachineService.method.loadAvg,
    MachineService.method.logs,
    MachineService.method.logsContainers,
    MachineService.method.memory,
    MachineService.method.mounts,
    MachineService.method.networkDeviceStats,
    MachineService.method.processes,
    MachineService.method.serviceList,
    MachineService.method.systemStat,
    MachineService.method.version,
    State.method.get,
    State.method.list,
    State.method.watch,
    StorageService.method.disks,
  ].map((method) => `/${method.parent.typeName}/${method.name}`),
);

/** Names of the calls of {@link TalosLooks}. */
export const LOOK_NAMES: readonly string[] = LOOKS;
