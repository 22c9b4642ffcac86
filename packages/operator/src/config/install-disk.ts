import type { DiskSelector } from "@talos-operator/api";
import { isSelected, selectorWords } from "./disk-selector.ts";
import type { SeenDisk } from "../model/look.ts";

/** Where Talos goes on a machine, or why that cannot be said. */
export type DiskChoice =
  | { readonly kind: "disk"; readonly path: string }
  /** The platform has no disks of its own (containers). */
  | { readonly kind: "none" }
  | {
      readonly kind: "refused";
      readonly reason: "InstallDiskAbsent" | "InstallDiskInUse" | "InstallDiskUnclear";
      readonly message: string;
    };

/** What decides the choice. */
export interface DiskQuestion {
  readonly machine: string;
  readonly platform: string | undefined;
  /** `machineSpec.installDisk`; `undefined` = choose one. */
  readonly wanted: string | undefined;
  /** `machineSpec.diskSelector`; absent = none. */
  readonly selector?: DiskSelector | undefined;
  /** `machineSpec.wipe`: the person agreed to lose what is on the disk. */
  readonly mayWipe: boolean;
  /** Chosen earlier and written down; kept, so that a disk added later changes nothing. */
  readonly recorded: string | undefined;
  /** `undefined` = the machine did not say. */
  readonly disks: readonly SeenDisk[] | undefined;
}

/** Names of disks that are links to others. */
const LINKS = "/dev/disk/";

/** Smallest disk that Talos asks for. */
const SMALLEST_BYTES = 10 * 1000 ** 3;

/**
 * Chooses the install disk without ever taking one that holds someone's data.
 *
 * A named disk must exist and be empty, unless `wipe` is set. Without a name: the first empty, writable, built-in disk of at least 10 GB
 * in the order of paths, so the order in which a machine lists its disks changes nothing. Disks on USB and read-only ones are never taken.
 */
export function chooseInstallDisk(question: DiskQuestion): DiskChoice {
  if (question.platform === "container") return { kind: "none" };
  const { machine, wanted, disks } = question;
  if (wanted !== undefined) {
    if (disks === undefined) return { kind: "disk", path: wanted };
    const disk = disks.find((candidate) => candidate.path === wanted || candidate.facts?.symlinks.includes(wanted) === true);
    if (disk === undefined && wanted.startsWith(LINKS) && disks.every(({ facts }) => (facts?.symlinks.length ?? 0) === 0))
      return refused(
        "InstallDiskUnclear",
        `${machine} does not say which disk ${wanted} is (it has ${listed(disks)}): name one of these in machineSpec.installDisk`,
      );
    if (disk === undefined)
      return refused("InstallDiskAbsent", `${machine} has no disk ${wanted} (it has ${listed(disks)}): correct machineSpec.installDisk`);
    if (disk.isReadOnly || disk.isCdrom)
      return refused("InstallDiskInUse", `${wanted} of ${machine} cannot be written: name another disk in machineSpec.installDisk`);
    if (hasContent(disk) && !question.mayWipe)
      return refused(
        "InstallDiskInUse",
        `${wanted} of ${machine} holds ${content(disk)}: set machineSpec.wipe to overwrite it, or name another disk in machineSpec.installDisk`,
      );
    return { kind: "disk", path: wanted };
  }
  if (question.selector !== undefined) return selectedDisk(question, question.selector);
  if (question.recorded !== undefined) return { kind: "disk", path: question.recorded };
  if (disks === undefined) return refused("InstallDiskUnclear", `${machine} does not list its disks: name one in machineSpec.installDisk`);
  const first = disks
    .filter(
      (disk) =>
        isBuiltIn(disk) &&
        disk.sizeBytes >= SMALLEST_BYTES &&
        (question.mayWipe || (disk.foreignContent !== undefined && !hasContent(disk))),
    )
    .toSorted((a, b) => comparePaths(a.path, b.path))[0];
  if (first === undefined)
    return refused(
      "InstallDiskUnclear",
      `${machine} has no empty built-in disk of 10 GB or more (it has ${listed(disks)}): name one in machineSpec.installDisk`,
    );
  return { kind: "disk", path: first.path };
}

/** Of the disks that fit: the one that was chosen before, else an empty one, built-in before others, by its path. */
function selectedDisk({ machine, mayWipe, recorded, disks }: DiskQuestion, selector: DiskSelector): DiskChoice {
  if (disks === undefined)
    return refused(
      "InstallDiskUnclear",
      `${machine} does not list its disks, so diskSelector finds none: name one in machineSpec.installDisk`,
    );
  const fitting = disks.filter((disk) => isSelected(disk, selector));
  const before = fitting.find(({ path }) => path === recorded);
  if (before !== undefined) return { kind: "disk", path: before.path };
  if (fitting.length === 0)
    return refused(
      "InstallDiskAbsent",
      `${machine} has no disk with ${selectorWords(selector)} (it has ${described(disks)}): correct machineSpec.diskSelector`,
    );
  const isEmpty = (disk: SeenDisk): boolean => disk.foreignContent !== undefined && !hasContent(disk);
  const [first] = fitting
    .filter((disk) => mayWipe || isEmpty(disk))
    .toSorted(
      (a, b) => Number(isEmpty(b)) - Number(isEmpty(a)) || Number(isBuiltIn(b)) - Number(isBuiltIn(a)) || comparePaths(a.path, b.path),
    );
  if (first !== undefined) return { kind: "disk", path: first.path };
  const held = fitting.map((disk) => `${disk.path} holds ${disk.foreignContent === undefined ? "unknown content" : content(disk)}`);
  return refused(
    "InstallDiskInUse",
    `diskSelector of ${machine} finds no empty disk (${held.slice(0, 4).join("; ")}): set machineSpec.wipe to overwrite it, or correct machineSpec.diskSelector`,
  );
}

function isBuiltIn(disk: SeenDisk): boolean {
  return !disk.isReadOnly && !disk.isCdrom && disk.transport !== "usb" && /^\/dev\/(sd|vd|xvd|nvme|mmcblk|hd)/.test(disk.path);
}

function hasContent(disk: SeenDisk): boolean {
  return disk.foreignContent !== undefined && disk.foreignContent.length > 0;
}

function content(disk: SeenDisk): string {
  return (disk.foreignContent ?? []).slice(0, 4).join(", ");
}

function listed(disks: readonly SeenDisk[]): string {
  if (disks.length === 0) return "none";
  return disks
    .map((disk) => disk.path)
    .toSorted(comparePaths)
    .slice(0, 8)
    .join(", ");
}

function described(disks: readonly SeenDisk[]): string {
  if (disks.length === 0) return "none";
  return disks
    .toSorted((a, b) => comparePaths(a.path, b.path))
    .slice(0, 8)
    .map(({ path, sizeBytes, transport, facts }) => {
      const words = [`${Math.round(sizeBytes / 1e9)} GB`, transport, (facts?.model ?? "").slice(0, 32)].filter((word) => word !== "");
      return `${path}: ${words.join(" ")}`;
    })
    .join(", ");
}

/** `/dev/sdb` before `/dev/sdaa`: shorter first, then by letters. */
function comparePaths(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

function refused(reason: "InstallDiskAbsent" | "InstallDiskInUse" | "InstallDiskUnclear", message: string): DiskChoice {
  return { kind: "refused", reason, message };
}
