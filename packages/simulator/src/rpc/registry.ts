import { applyConfiguration } from "./apply-handler.ts";
import type { StreamHandler, UnaryHandler } from "./context.ts";
import { containers, logsContainers, processes } from "./container-handlers.ts";
import { cosiGet, cosiList, cosiWatch, cosiWriteRefused } from "./cosi-handlers.ts";
import {
  bootstrap,
  etcdAlarmDisarm,
  etcdAlarmList,
  etcdDefragment,
  etcdForfeitLeadership,
  etcdMemberList,
  etcdRemoveMemberById,
  etcdStatus,
} from "./etcd-handlers.ts";
import { etcdLeaveCluster } from "./etcd-leave-handler.ts";
import { etcdSnapshot } from "./etcd-snapshot-handler.ts";
import { events } from "./event-handlers.ts";
import { copy, diskUsage, list, read } from "./file-handlers.ts";
import { healthCheck } from "./health-handler.ts";
import { hostname, version } from "./identity-handlers.ts";
import { imageList, imagePull, imageServiceList, imageServicePull, imageServiceRemove } from "./image-handlers.ts";
import { generateClientConfiguration, kubeconfig } from "./kubeconfig-handlers.ts";
import { metaDelete, metaWrite, reboot, reset, shutdown } from "./lifecycle-handlers.ts";
import { dmesg, logs } from "./log-handlers.ts";
import { serviceList, serviceRestart, serviceStart, serviceStop } from "./service-handlers.ts";
import {
  blockDeviceWipe,
  cpuInfo,
  disks,
  diskStats,
  loadAvg,
  memory,
  mounts,
  networkDeviceStats,
  systemStat,
  timeNow,
} from "./stat-handlers.ts";
import { lifecycleInstall, lifecycleUpgrade, rollback, upgrade } from "./upgrade-handlers.ts";

/** Served RPCs that answer one message, by path. A path that is in neither table is answered UNIMPLEMENTED. */
export const unaryHandlers: Readonly<Record<string, UnaryHandler>> = {
  "/machine.MachineService/ApplyConfiguration": applyConfiguration,
  "/machine.MachineService/Bootstrap": bootstrap,
  "/machine.MachineService/Containers": containers,
  "/machine.MachineService/CPUInfo": cpuInfo,
  "/machine.MachineService/DiskStats": diskStats,
  "/machine.MachineService/EtcdAlarmDisarm": etcdAlarmDisarm,
  "/machine.MachineService/EtcdAlarmList": etcdAlarmList,
  "/machine.MachineService/EtcdDefragment": etcdDefragment,
  "/machine.MachineService/EtcdForfeitLeadership": etcdForfeitLeadership,
  "/machine.MachineService/EtcdLeaveCluster": etcdLeaveCluster,
  "/machine.MachineService/EtcdMemberList": etcdMemberList,
  "/machine.MachineService/EtcdRemoveMemberByID": etcdRemoveMemberById,
  "/machine.MachineService/EtcdStatus": etcdStatus,
  "/machine.MachineService/GenerateClientConfiguration": generateClientConfiguration,
  "/machine.MachineService/Hostname": hostname,
  "/machine.MachineService/ImagePull": imagePull,
  "/machine.MachineService/LoadAvg": loadAvg,
  "/machine.MachineService/LogsContainers": logsContainers,
  "/machine.MachineService/Memory": memory,
  "/machine.MachineService/MetaDelete": metaDelete,
  "/machine.MachineService/MetaWrite": metaWrite,
  "/machine.MachineService/Mounts": mounts,
  "/machine.MachineService/NetworkDeviceStats": networkDeviceStats,
  "/machine.MachineService/Processes": processes,
  "/machine.MachineService/Reboot": reboot,
  "/machine.MachineService/Reset": reset,
  "/machine.MachineService/Rollback": rollback,
  "/machine.MachineService/ServiceList": serviceList,
  "/machine.MachineService/ServiceRestart": serviceRestart,
  "/machine.MachineService/ServiceStart": serviceStart,
  "/machine.MachineService/ServiceStop": serviceStop,
  "/machine.MachineService/Shutdown": shutdown,
  "/machine.MachineService/SystemStat": systemStat,
  "/machine.MachineService/Upgrade": upgrade,
  "/machine.MachineService/Version": version,
  "/machine.ImageService/Remove": imageServiceRemove,
  "/storage.StorageService/BlockDeviceWipe": blockDeviceWipe,
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
  "/machine.MachineService/Copy": copy,
  "/machine.MachineService/DiskUsage": diskUsage,
  "/machine.MachineService/Dmesg": dmesg,
  "/machine.MachineService/EtcdSnapshot": etcdSnapshot,
  "/machine.MachineService/Events": events,
  "/machine.MachineService/ImageList": imageList,
  "/machine.MachineService/Kubeconfig": kubeconfig,
  "/machine.MachineService/List": list,
  "/machine.MachineService/Logs": logs,
  "/machine.MachineService/Read": read,
  "/machine.ImageService/List": imageServiceList,
  "/machine.ImageService/Pull": imageServicePull,
  "/machine.LifecycleService/Install": lifecycleInstall,
  "/machine.LifecycleService/Upgrade": lifecycleUpgrade,
  "/cluster.ClusterService/HealthCheck": healthCheck,
  "/cosi.resource.State/List": cosiList,
  "/cosi.resource.State/Watch": cosiWatch,
};
