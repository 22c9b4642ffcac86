import type { Datacenter } from "../../datacenter/types.ts";

/** Waits until `isTrue`, looking again after every change of a machine and, for what no machine shows, every 20 ms. */
export async function untilMachines(datacenter: Datacenter, isTrue: () => boolean): Promise<void> {
  while (!isTrue()) {
    await new Promise<void>((resolve) => {
      const end = datacenter.onMachine(() => {
        end();
        resolve();
      });
      setTimeout(() => {
        end();
        resolve();
      }, 20);
    });
  }
}
