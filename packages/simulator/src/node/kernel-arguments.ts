import type { Machine } from "./machine.ts";

/** What Talos puts on every command line itself, of the releases that are simulated. @see siderolabs/talos v1.13.9 `pkg/machinery/kernel/kernel.go` */
const ofTalos =
  "init_on_alloc=1 slab_nomerge pti=on consoleblank=0 nvme_core.io_timeout=4294967295 printk.devkmsg=on selinux=1 module.sig_enforce=1";

/**
 * What the kernel of a machine was started with.
 *
 * @param ofSchematics kernel arguments by schematic
 */
export function cmdlineOf(
  { hardware: { platform, hasGrub }, schematic, kernelArguments }: Machine,
  ofSchematics: ReadonlyMap<string, readonly string[]>,
): string {
  if (platform === "container") return `talos.platform=${platform}`;
  const extra = kernelArguments ?? (schematic === undefined ? undefined : ofSchematics.get(schematic)) ?? [];
  const base = `talos.platform=${platform} console=tty0 ${ofTalos}`;
  const all = [...(hasGrub === true ? ["BOOT_IMAGE=/A/vmlinuz"] : []), ...base.split(" "), ...extra];
  // A dash before a name takes the argument away.
  const dropped = new Set(all.flatMap((one) => (one.startsWith("-") ? [one.slice(1)] : [])));
  return all.filter((one) => !one.startsWith("-") && !dropped.has(one.split("=")[0] ?? "")).join(" ");
}
