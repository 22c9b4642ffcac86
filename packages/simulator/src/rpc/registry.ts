import { applyConfiguration } from "./apply-handler.ts";
import type { StreamHandler, UnaryHandler } from "./context.ts";
import { cosiGet, cosiList, cosiWatch, cosiWriteRefused } from "./cosi-handlers.ts";
import {
  bootstrap,
  etcdAlarmList,
  etcdForfeitLeadership,
  etcdLeaveCluster,
  etcdMemberList,
  etcdRemoveMemberById,
  etcdStatus,
} from "./etcd-handlers.ts";
import { events } from "./event-handlers.ts";
import { list, read } from "./file-handlers.ts";
import { healthCheck } from "./health-handler.ts";
import { hostname, version } from "./identity-handlers.ts";
import { generateClientConfiguration, kubeconfig } from "./kubeconfig-handlers.ts";
import { metaDelete, metaWrite, notInContainer, notInContainerStream, reboot, reset, shutdown } from "./lifecycle-handlers.ts";
import { dmesg, logs } from "./log-handlers.ts";
import { serviceList, serviceRestart, serviceStart, serviceStop } from "./service-handlers.ts";
import { cpuInfo, disks, diskStats, loadAvg, memory, mounts, systemStat, timeNow } from "./stat-handlers.ts";

/** Served RPCs that answer one message, by path. A path that is in neither table is answered UNIMPLEMENTED. */
export const unaryHandlers: Readonly<Record<string, UnaryHandler>> = {
  "/machine.MachineService/ApplyConfiguration": applyConfiguration,
  "/machine.MachineService/Bootstrap": bootstrap,
  "/machine.MachineService/CPUInfo": cpuInfo,
  "/machine.MachineService/DiskStats": diskStats,
  "/machine.MachineService/EtcdAlarmList": etcdAlarmList,
  "/machine.MachineService/EtcdForfeitLeadership": etcdForfeitLeadership,
  "/machine.MachineService/EtcdLeaveCluster": etcdLeaveCluster,
  "/machine.MachineService/EtcdMemberList": etcdMemberList,
  "/machine.MachineService/EtcdRemoveMemberByID": etcdRemoveMemberById,
  "/machine.MachineService/EtcdStatus": etcdStatus,
  "/machine.MachineService/GenerateClientConfiguration": generateClientConfiguration,
  "/machine.MachineService/Hostname": hostname,
  "/machine.MachineService/LoadAvg": loadAvg,
  "/machine.MachineService/Memory": memory,
  "/machine.MachineService/MetaDelete": metaDelete,
  "/machine.MachineService/MetaWrite": metaWrite,
  "/machine.MachineService/Mounts": mounts,
  "/machine.MachineService/Reboot": reboot,
  "/machine.MachineService/Reset": reset,
  "/machine.MachineService/Rollback": notInContainer,
  "/machine.MachineService/ServiceList": serviceList,
  "/machine.MachineService/ServiceRestart": serviceRestart,
  "/machine.MachineService/ServiceStart": serviceStart,
  "/machine.MachineService/ServiceStop": serviceStop,
  "/machine.MachineService/Shutdown": shutdown,
  "/machine.MachineService/SystemStat": systemStat,
  "/machine.MachineService/Upgrade": notInContainer,
  "/machine.MachineService/Version": version,
  "/storage.StorageService/Disks": disks,
  "/time.TimeService/Time": timeNow,
  "/time.TimeService/TimeCheck": timeNow,
  "/cosi.resource.State/Get": cosiGet,
  "/cosi.resource.State/Create": cosiWriteRefused,
  "/cosi.resource.State/Update": cosiWriteRefused,
  "/cosi.resource.State/Destroy": cosiWriteRefused,
  "/cosi.resource.State/Teardown": cosiWriteRefused,
  "/cosi.resource.State/TeardownAndDestroy": cosiWriteRefused,
};

/** Served RPCs that answer a stream, by path. */
export const streamHandlers: Readonly<Record<string, StreamHandler>> = {
  "/machine.MachineService/Dmesg": dmesg,
  "/machine.MachineService/Events": events,
  "/machine.MachineService/Kubeconfig": kubeconfig,
  "/machine.MachineService/List": list,
  "/machine.MachineService/Logs": logs,
  "/machine.MachineService/Read": read,
  "/machine.LifecycleService/Install": notInContainerStream,
  "/machine.LifecycleService/Upgrade": notInContainerStream,
  "/cluster.ClusterService/HealthCheck": healthCheck,
  "/cosi.resource.State/List": cosiList,
  "/cosi.resource.State/Watch": cosiWatch,
};
