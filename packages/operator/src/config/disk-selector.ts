import type { DiskSelector } from "@talos-operator/api";
import { parseByteSize } from "@talos-operator/talos";
import type { SeenDisk } from "../model/look.ts";

/** Whether a selector asks for anything at all. */
export function saysSomething(selector: DiskSelector | undefined): selector is DiskSelector {
  return selector !== undefined && Object.values(selector).some((value) => value !== undefined && value !== "");
}

/**
 * Whether Talos would take the disk for one that the selector means: every part that is set has to fit, `*` in a text stands for anything, and what is
 * no disk of its own (no transport), cannot be written or is a CD never does.
 *
 * @see siderolabs/talos `pkg/machinery/config/types/v1alpha1/v1alpha1_provider.go`, `DiskMatchExpression`
 */
export function isSelected(disk: SeenDisk, selector: DiskSelector): boolean {
  if (disk.transport === "" || disk.isReadOnly || disk.isCdrom) return false;
  const { facts } = disk;
  return (
    fitsSize(disk.sizeBytes, selector.size) &&
    fitsType(disk, selector.type) &&
    fits(facts?.model, selector.model) &&
    fits(facts?.serial, selector.serial) &&
    fits(facts?.wwid, selector.wwid) &&
    fits(facts?.uuid, selector.uuid) &&
    fits(facts?.modalias, selector.modalias) &&
    fits(facts?.busPath, selector.busPath)
  );
}

/** The selector in words: `size >= 100GB, type nvme`. */
export function selectorWords(selector: DiskSelector): string {
  return Object.entries(selector)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([key, value]) => `${key} ${String(value).slice(0, 64)}`)
    .join(", ");
}

function fitsSize(sizeBytes: number, condition: string | undefined): boolean {
  if (condition === undefined || condition === "") return true;
  const [, operator = "", size = ""] = /^(>=|<=|==|>|<)?(.*)$/s.exec(condition.trim()) ?? [];
  const wanted = parseByteSize(size.trim());
  if (wanted === undefined) return false;
  switch (operator) {
    case ">=":
      return sizeBytes >= wanted;
    case "<=":
      return sizeBytes <= wanted;
    case ">":
      return sizeBytes > wanted;
    case "<":
      return sizeBytes < wanted;
    default:
      return sizeBytes === wanted;
  }
}

function fitsType({ transport, facts }: SeenDisk, type: DiskSelector["type"]): boolean {
  switch (type) {
    case "nvme":
      return transport === "nvme";
    case "sd":
      return transport === "mmc";
    case "hdd":
      return facts?.isRotational === true;
    case "ssd":
      return facts?.isRotational === false;
    default:
      return true;
  }
}

/** What the machine does not tell fits nothing. */
function fits(value: string | undefined, pattern: string | undefined): boolean {
  if (pattern === undefined || pattern === "") return true;
  if (value === undefined) return false;
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return value === pattern;
  if (!value.startsWith(first)) return false;
  // Each piece is taken where it comes first: no pattern makes this slow.
  let at = first.length;
  for (const piece of rest) {
    const found = value.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return value.length - last.length >= at && value.endsWith(last);
}
