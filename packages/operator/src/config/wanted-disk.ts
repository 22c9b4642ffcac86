import type { DiskSelector } from "@talos-operator/api";
import { saysSomething } from "./disk-selector.ts";
import type { MachineSettings } from "../model/machine.ts";

/**
 * The disk that settings name for the installation: in a patch, which comes last, in `installDisk`, or in a whole config that a person wrote. `undefined` =
 * the operator chooses, by `diskSelector` where that is set.
 */
export function wantedDisk(settings: MachineSettings): string | undefined {
  return (
    patchedDisk(settings) ?? (wantedSelector(settings) === undefined ? (settings.installDisk ?? settings.base?.installDisk) : undefined)
  );
}

/** The selector that finds the disk; `undefined` where none is set, or a patch names a disk. */
export function wantedSelector(settings: MachineSettings): DiskSelector | undefined {
  return saysSomething(settings.diskSelector) && patchedDisk(settings) === undefined ? settings.diskSelector : undefined;
}

function patchedDisk({ configPatches = [] }: MachineSettings): string | undefined {
  return configPatches.reduce<string | undefined>((before, patch) => textAt(patch, "disk") ?? before, undefined);
}

/** A selector in a patch is read on the machine, after nobody could see any more which disk it finds. */
export function hasDiskSelector({ configPatches = [] }: MachineSettings): boolean {
  return configPatches.some((patch) => installOf(patch)?.["diskSelector"] !== undefined);
}

function textAt(patch: unknown, key: string): string | undefined {
  const value = installOf(patch)?.[key];
  return typeof value === "string" ? value : undefined;
}

function installOf(patch: unknown): Readonly<Record<string, unknown>> | undefined {
  return mapping(mapping(mapping(patch)?.["machine"])?.["install"]);
}

function mapping(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}
