import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { machine, storage, time } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import type { HandlerContext } from "./context.ts";

/** MachineService/SystemStat of an idle machine. */
export function systemStat({ cell, world }: HandlerContext): machine.SystemStatResponse {
  const { hardware, bootedAt } = cell.state;
  const seconds = Math.max(0, (world.clock.now() - bootedAt) / 1000);
  const one = { user: seconds * 0.02, system: seconds * 0.01, idle: seconds * 0.97 };
  return create(machine.SystemStatResponseSchema, {
    messages: [
      {
        bootTime: BigInt(Math.floor(bootedAt / 1000)),
        cpuTotal: { user: one.user * hardware.cpuCores, system: one.system * hardware.cpuCores, idle: one.idle * hardware.cpuCores },
        cpu: Array.from({ length: hardware.cpuCores }, () => one),
        processRunning: 1n,
      },
    ],
  });
}

/** MachineService/Memory, in KiB. */
export function memory({ cell }: HandlerContext): machine.MemoryResponse {
  const total = BigInt(cell.state.hardware.memoryMib) * 1024n;
  return create(machine.MemoryResponseSchema, {
    messages: [{ meminfo: { memtotal: total, memfree: total / 2n, memavailable: (total * 3n) / 4n, cached: total / 8n } }],
  });
}

/** MachineService/LoadAvg. */
export function loadAvg(): machine.LoadAvgResponse {
  return create(machine.LoadAvgResponseSchema, { messages: [{ load1: 0.1, load5: 0.1, load15: 0.1 }] });
}

/** MachineService/CPUInfo. */
export function cpuInfo({ cell }: HandlerContext): machine.CPUInfoResponse {
  const { cpuCores } = cell.state.hardware;
  return create(machine.CPUInfoResponseSchema, {
    messages: [
      {
        cpuInfo: Array.from({ length: cpuCores }, (_, processor) => ({
          processor,
          vendorId: "Simulated",
          modelName: "Simulated CPU",
          cpuMhz: 2_400,
          siblings: cpuCores,
          coreId: String(processor),
        })),
      },
    ],
  });
}

/** MachineService/DiskStats. */
export function diskStats({ cell }: HandlerContext): machine.DiskStatsResponse {
  return create(machine.DiskStatsResponseSchema, {
    messages: [{ total: {}, devices: cell.state.hardware.disks.map((disk) => ({ name: disk.device.replace("/dev/", "") })) }],
  });
}

/** MachineService/NetworkDeviceStats of a machine that says little: traffic grows with its time. */
export function networkDeviceStats({ cell, world }: HandlerContext): machine.NetworkDeviceStatsResponse {
  const seconds = BigInt(Math.max(0, Math.floor((world.clock.now() - cell.state.bootedAt) / 1000)));
  const traffic = { rxBytes: seconds * 2_000n, rxPackets: seconds * 10n, txBytes: seconds * 1_500n, txPackets: seconds * 8n };
  return create(machine.NetworkDeviceStatsResponseSchema, {
    messages: [{ total: { name: "", ...traffic }, devices: [{ name: "eth0", ...traffic }, { name: "lo" }] }],
  });
}

/** MachineService/Mounts. */
export function mounts({ cell }: HandlerContext): machine.MountsResponse {
  const { hardware, isInstalled } = cell.state;
  const [disk] = hardware.disks;
  const stats =
    disk === undefined || !isInstalled
      ? []
      : [
          { filesystem: `${disk.device}5`, size: 104_857_600n, available: 94_371_840n, mountedOn: "/system/state" },
          {
            filesystem: `${disk.device}6`,
            size: BigInt(disk.sizeBytes),
            available: (BigInt(disk.sizeBytes) * 9n) / 10n,
            mountedOn: "/var",
          },
        ];
  return create(machine.MountsResponseSchema, { messages: [{ stats }] });
}

/** StorageService/Disks. */
export function disks({ cell }: HandlerContext): storage.DisksResponse {
  const { hardware, isInstalled } = cell.state;
  return create(storage.DisksResponseSchema, {
    messages: [
      {
        disks: hardware.disks.map((disk, index) => ({
          size: BigInt(disk.sizeBytes),
          model: disk.model,
          deviceName: disk.device,
          name: disk.device.replace("/dev/", ""),
          serial: disk.serial,
          type: storage.Disk_DiskType.SSD,
          systemDisk: isInstalled && index === 0,
          subsystem: "/sys/class/block",
        })),
      },
    ],
  });
}

/**
 * StorageService/BlockDeviceWipe of a disk that Talos is not installed on. What simulated disks hold is only whether Talos is on them, so nothing changes.
 *
 * @throws RpcError FAILED_PRECONDITION for the system disk, NOT_FOUND for one that is not there, PERMISSION_DENIED for a reader of a configured machine
 */
export function blockDeviceWipe(context: HandlerContext, request: storage.BlockDeviceWipeRequest): storage.BlockDeviceWipeResponse {
  const { hardware, isInstalled } = context.cell.state;
  if (!context.isMaintenance && !context.roles.has("os:admin")) throw new RpcError(grpcStatus.permissionDenied, "not authorized");
  for (const { device } of request.devices) {
    const index = hardware.disks.findIndex((disk) => disk.device === `/dev/${device}`);
    if (index < 0) throw new RpcError(grpcStatus.notFound, `blockdevice "${device}" not found`);
    if (isInstalled && index === 0) throw new RpcError(grpcStatus.failedPrecondition, `blockdevice "${device}" is in use by the system`);
  }
  return create(storage.BlockDeviceWipeResponseSchema, { messages: [{}] });
}

/** TimeService/Time and TimeCheck: clocks of simulated machines agree. */
export function timeNow({ world }: HandlerContext, request: time.TimeRequest): time.TimeResponse {
  const now = timestampFromMs(world.clock.now());
  return create(time.TimeResponseSchema, {
    messages: [{ server: request.server || "time.cloudflare.com", localtime: now, remotetime: now }],
  });
}
