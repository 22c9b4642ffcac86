import type { VitistackMachine } from "@talos-operator/api";

/** How much there is of one thing, and how much of it is in use. */
interface Amount {
  readonly capacity: string;
  readonly used: string;
  /** 0 to 100. */
  readonly percentage: number;
}

/** What machines have together, as their providers report it; what nobody reports is 0. */
export interface Resources {
  readonly cpu: Amount;
  readonly disk: Amount;
  readonly gpu: Amount;
  readonly memory: Amount;
}

/** Sums of processors, memory and disks over machines, with what is known of their use. Pure. */
export function clusterResources(machines: readonly VitistackMachine[]): Resources {
  const sum = (of: (machine: VitistackMachine) => number | undefined): number => machines.reduce((total, one) => total + (of(one) ?? 0), 0);
  const disks = machines.flatMap(({ status }) => status?.disks ?? []);
  const size = disks.reduce((total, disk) => total + (disk.size ?? 0), 0);
  const used = disks.reduce((total, disk) => total + (disk.usedBytes ?? 0), 0);
  return {
    cpu: amount(sum(({ status }) => status?.cpus)),
    disk: amount(size, used),
    gpu: amount(0),
    memory: amount(sum(({ status }) => status?.memory)),
  };
}

function amount(capacity: number, used = 0): Amount {
  return {
    capacity: String(capacity),
    used: String(used),
    percentage: capacity === 0 ? 0 : Math.min(100, Math.floor((used * 100) / capacity)),
  };
}
