import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";

import { MachineService } from "../gen/machine/machine_pb.ts";
import type { CPUStat, DiskStat, NetDev } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { READ_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";
import { required } from "./reply.ts";

/** Memory of a machine, as the kernel counts it. */
export interface MemoryFacts {
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly availableBytes: number;
  readonly buffersBytes: number;
  readonly cachedBytes: number;
  readonly swapTotalBytes: number;
  readonly swapFreeBytes: number;
}

/** A mounted file system. */
export interface MountFacts {
  readonly filesystem: string;
  readonly mountedOn: string;
  readonly sizeBytes: number;
  readonly availableBytes: number;
}

/** A process of the machine. */
export interface ProcessFacts {
  readonly pid: number;
  readonly parentPid: number;
  /** One letter as in /proc: `R`, `S`, `D`, `Z`, ... */
  readonly state: string;
  readonly threads: number;
  readonly cpuSeconds: number;
  readonly virtualMemoryBytes: number;
  readonly residentMemoryBytes: number;
  readonly command: string;
  readonly executable: string;
  readonly args: string;
}

/** Seconds since boot that processors spent. */
export interface CpuTimeFacts {
  readonly userSeconds: number;
  readonly systemSeconds: number;
  readonly idleSeconds: number;
  readonly ioWaitSeconds: number;
  readonly stealSeconds: number;
}

/** What processors and processes did since the machine booted. */
export interface SystemStatFacts {
  /** Milliseconds since the epoch by the machine's clock; resolution one second. */
  readonly bootedAt: number;
  readonly total: CpuTimeFacts;
  /** One per processor. */
  readonly processors: readonly CpuTimeFacts[];
  readonly processesRunning: number;
  readonly processesBlocked: number;
}

/** A processor, as the kernel describes it. */
export interface ProcessorFacts {
  readonly modelName: string;
  readonly mhz: number;
  readonly coreId: string;
}

/** What a disk did since the machine booted. */
export interface DiskActivityFacts {
  /** Device name without `/dev/`. */
  readonly name: string;
  readonly readsCompleted: number;
  readonly writesCompleted: number;
  /** Sectors of 512 bytes. */
  readonly sectorsRead: number;
  readonly sectorsWritten: number;
  readonly busyMs: number;
}

/** What went through a link since the machine booted. */
export interface NetworkActivityFacts {
  readonly name: string;
  readonly receivedBytes: number;
  readonly receivedPackets: number;
  readonly receiveErrors: number;
  readonly receiveDropped: number;
  readonly sentBytes: number;
  readonly sentPackets: number;
  readonly sendErrors: number;
  readonly sendDropped: number;
}

/** What the machine's kernel counts. All are harmless looks with a default deadline of 10 s. Counters start at boot. */
export interface SystemCalls {
  memory(options?: CallOptions): Promise<MemoryFacts>;
  /** Mounted file systems that have a size. */
  mounts(options?: CallOptions): Promise<readonly MountFacts[]>;
  processes(options?: CallOptions): Promise<readonly ProcessFacts[]>;
  systemStat(options?: CallOptions): Promise<SystemStatFacts>;
  /** Load of the last 1, 5 and 15 minutes. */
  loadAverage(options?: CallOptions): Promise<readonly [number, number, number]>;
  processors(options?: CallOptions): Promise<readonly ProcessorFacts[]>;
  diskStats(options?: CallOptions): Promise<readonly DiskActivityFacts[]>;
  networkDeviceStats(options?: CallOptions): Promise<readonly NetworkActivityFacts[]>;
}

const MEMORY = methodOf(MachineService.method.memory);
const MOUNTS = methodOf(MachineService.method.mounts);
const PROCESSES = methodOf(MachineService.method.processes);
const SYSTEM_STAT = methodOf(MachineService.method.systemStat);
const LOAD_AVG = methodOf(MachineService.method.loadAvg);
const CPU_INFO = methodOf(MachineService.method.cPUInfo);
const DISK_STATS = methodOf(MachineService.method.diskStats);
const NETWORK_STATS = methodOf(MachineService.method.networkDeviceStats);

const KIB = 1024;

export function systemCalls(caller: Caller): SystemCalls {
  return {
    async memory(options) {
      const part = await caller.one(MEMORY, create(EmptySchema), READ_TIMEOUT_MS, options);
      const info = required(part.meminfo, "memory", caller, MEMORY, options);
      const bytes = (kib: bigint): number => Number(kib) * KIB;
      return {
        totalBytes: bytes(info.memtotal),
        freeBytes: bytes(info.memfree),
        availableBytes: bytes(info.memavailable),
        buffersBytes: bytes(info.buffers),
        cachedBytes: bytes(info.cached),
        swapTotalBytes: bytes(info.swaptotal),
        swapFreeBytes: bytes(info.swapfree),
      };
    },
    async mounts(options) {
      const { stats } = await caller.one(MOUNTS, create(EmptySchema), READ_TIMEOUT_MS, options);
      return stats.map((stat) => ({
        filesystem: stat.filesystem,
        mountedOn: stat.mountedOn,
        sizeBytes: Number(stat.size),
        availableBytes: Number(stat.available),
      }));
    },
    async processes(options) {
      const part = await caller.one(PROCESSES, create(EmptySchema), READ_TIMEOUT_MS, options);
      return part.processes.map((one) => ({
        pid: one.pid,
        parentPid: one.ppid,
        state: one.state,
        threads: one.threads,
        cpuSeconds: one.cpuTime,
        virtualMemoryBytes: Number(one.virtualMemory),
        residentMemoryBytes: Number(one.residentMemory),
        command: one.command,
        executable: one.executable,
        args: one.args,
      }));
    },
    async systemStat(options) {
      const part = await caller.one(SYSTEM_STAT, create(EmptySchema), READ_TIMEOUT_MS, options);
      return {
        bootedAt: Number(part.bootTime) * 1000,
        total: cpuTimeOf(required(part.cpuTotal, "processor times", caller, SYSTEM_STAT, options)),
        processors: part.cpu.map(cpuTimeOf),
        processesRunning: Number(part.processRunning),
        processesBlocked: Number(part.processBlocked),
      };
    },
    async loadAverage(options) {
      const { load1, load5, load15 } = await caller.one(LOAD_AVG, create(EmptySchema), READ_TIMEOUT_MS, options);
      return [load1, load5, load15];
    },
    async processors(options) {
      const { cpuInfo } = await caller.one(CPU_INFO, create(EmptySchema), READ_TIMEOUT_MS, options);
      return cpuInfo.map(({ modelName, cpuMhz, coreId }) => ({ modelName, mhz: cpuMhz, coreId }));
    },
    async diskStats(options) {
      return (await caller.one(DISK_STATS, create(EmptySchema), READ_TIMEOUT_MS, options)).devices.map(diskActivityOf);
    },
    async networkDeviceStats(options) {
      return (await caller.one(NETWORK_STATS, create(EmptySchema), READ_TIMEOUT_MS, options)).devices.map(networkActivityOf);
    },
  };
}

function cpuTimeOf(stat: CPUStat): CpuTimeFacts {
  return {
    userSeconds: stat.user,
    systemSeconds: stat.system,
    idleSeconds: stat.idle,
    ioWaitSeconds: stat.iowait,
    stealSeconds: stat.steal,
  };
}

function diskActivityOf(stat: DiskStat): DiskActivityFacts {
  return {
    name: stat.name,
    readsCompleted: Number(stat.readCompleted),
    writesCompleted: Number(stat.writeCompleted),
    sectorsRead: Number(stat.readSectors),
    sectorsWritten: Number(stat.writeSectors),
    busyMs: Number(stat.ioTimeMs),
  };
}

function networkActivityOf(device: NetDev): NetworkActivityFacts {
  return {
    name: device.name,
    receivedBytes: Number(device.rxBytes),
    receivedPackets: Number(device.rxPackets),
    receiveErrors: Number(device.rxErrors),
    receiveDropped: Number(device.rxDropped),
    sentBytes: Number(device.txBytes),
    sentPackets: Number(device.txPackets),
    sendErrors: Number(device.txErrors),
    sendDropped: Number(device.txDropped),
  };
}
