import { isTalosError, resourceKinds, untypedKind } from "@talos-operator/talos/client";
import type { CallOptions, DiskSpec, TalosClient } from "@talos-operator/talos/client";
import { bounded, reportedWord } from "./reported-words.ts";
import type { SeenDisk, SeenDiskFacts } from "../model/look.ts";

const discoveredVolume = untypedKind("DiscoveredVolumes.block.talos.dev", "runtime");

/** Partition labels of Talos itself: a disk with nothing else on it holds nobody's data. */
const TALOS_LABELS = new Set(["EFI", "BIOS", "BOOT", "META", "STATE", "EPHEMERAL", "IMAGECACHE"]);

/** The record takes no longer one. */
const LONGEST_PATH = 256;

/** Of one disk. */
const MOST_LINKS = 32;

/** Disks of a machine with what is on them; `undefined` when the machine does not tell. */
export async function seenDisks(client: TalosClient, options: CallOptions): Promise<readonly SeenDisk[] | undefined> {
  const [disks, volumes] = await Promise.all([
    tryList(() => client.resources.list(resourceKinds.disk, options)),
    tryList(() => client.resources.list(discoveredVolume, options)),
  ]);
  if (disks === undefined) return undefined;
  const contents = volumes?.flatMap((volume) => contentOf(volume.spec) ?? []);
  return disks
    .filter(({ spec: { devicePath } }) => !devicePath.startsWith("/dev/loop") && reportedWord(devicePath, LONGEST_PATH) !== undefined)
    .map(({ spec }) => ({
      path: spec.devicePath,
      sizeBytes: spec.sizeBytes,
      transport: spec.transport,
      isReadOnly: spec.isReadonly,
      isCdrom: spec.isCdrom,
      foreignContent: contents?.filter((content) => content.disk === spec.devicePath).map((content) => content.what),
      facts: factsOf(spec),
    }));
}

/** No longer than a disk can say honestly: a machine that is not known yet tells this. */
function factsOf(spec: DiskSpec): SeenDiskFacts {
  const word = (text: string): string => bounded(text.trim(), LONGEST_PATH);
  return {
    model: word(spec.model),
    serial: word(spec.serial),
    wwid: word(spec.wwid),
    uuid: word(spec.uuid),
    modalias: word(spec.modalias),
    busPath: word(spec.busPath),
    isRotational: spec.isRotational,
    symlinks: spec.symlinks.slice(0, MOST_LINKS).map(word),
  };
}

interface Content {
  readonly disk: string;
  readonly what: string;
}

/** What of someone else's a volume shows: a file system, or a partition that is not Talos's. */
function contentOf(spec: unknown): Content | undefined {
  if (typeof spec !== "object" || spec === null) return undefined;
  const text = (key: string): string => {
    const value = (spec as Readonly<Record<string, unknown>>)[key];
    return typeof value === "string" ? value : "";
  };
  const path = text("dev_path") || text("devPath");
  const parent = text("parent_dev_path") || text("parentDevPath") || text("parent");
  const label = text("partition_label") || text("partitionLabel");
  const name = text("name");
  const disk = text("type") === "partition" && parent !== "" ? (parent.startsWith("/") ? parent : `/dev/${parent}`) : path;
  if (TALOS_LABELS.has(label)) return undefined;
  // A partition table alone is no data; its partitions are listed on their own.
  if (name === "" ? text("type") !== "partition" : name === "gpt" || name === "dos") return undefined;
  return { disk, what: bounded(label || name || "a partition", 64) };
}

async function tryList<T>(list: () => Promise<readonly T[]>): Promise<readonly T[] | undefined> {
  try {
    return await list();
  } catch (thrown) {
    // Refused or unknown there (older Talos, container mode): not told.
    if (isTalosError(thrown, "PERMISSION_DENIED", "UNIMPLEMENTED", "NOT_FOUND")) return undefined;
    throw thrown;
  }
}
