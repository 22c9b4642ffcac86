import { identityOf, identityText, legacyKind } from "../document-identity.ts";
import { nodeAt, textAt } from "../yaml/navigate.ts";
import type { YamlNode } from "../yaml/node.ts";
import { readYaml } from "../yaml/read.ts";
import type { ConfigChange } from "./effect.ts";

/** A change of a volume's encryption that leaves the machine without the volume at its next boot. */
export interface BarredEncryption {
  /** `STATE`, `EPHEMERAL`, or `UserVolumeConfig/data`. */
  readonly volume: string;
  /** Encryption is put on a volume that has none, taken off one that has it, or none of its keys stays, so that nothing unlocks it. */
  readonly why: "added" | "removed" | "all-keys-changed";
  /** Where it stands: the part of the config that must stay as it is. */
  readonly changes: readonly ConfigChange[];
}

/** How a volume is encrypted: its keys in one spelling. */
interface Encryption {
  readonly keys: readonly string[];
}

/** Documents of volumes; a system volume is there without one. */
const volumeKinds: ReadonlySet<string> = new Set(["VolumeConfig", "UserVolumeConfig", "RawVolumeConfig", "SwapVolumeConfig"]);

/**
 * The changes of encryption among these that no machine comes through whose volumes exist: Talos neither encrypts nor decrypts a volume that has data, and opens
 * one by a key that is in the new config and was in the old one.
 *
 * @see siderolabs/talos `internal/app/machined/pkg/controllers/block/internal/volumes/encrypt.go`, `internal/pkg/encryption/encryption.go`
 */
export function barredEncryption(before: string, after: string, changes: readonly ConfigChange[]): readonly BarredEncryption[] {
  const about = new Map<string, ConfigChange[]>();
  for (const change of changes) {
    const volume = volumeOf(change);
    if (volume !== undefined) about.set(volume, [...(about.get(volume) ?? []), change]);
  }
  if (about.size === 0) return [];
  const [was, is] = [encryptions(before), encryptions(after)];
  return [...about].flatMap(([volume, own]) => {
    const [old, next] = [was.get(volume), is.get(volume)];
    // A volume that comes with its document is made by it, and one that goes keeps its data.
    if (old === undefined || next === undefined) return [];
    const why = whyBarred(old, next);
    return why === undefined ? [] : [{ volume, why, changes: own }];
  });
}

function whyBarred(old: Encryption | "none", next: Encryption | "none"): BarredEncryption["why"] | undefined {
  if (old === "none") return next === "none" ? undefined : "added";
  if (next === "none") return "removed";
  return next.keys.some((key) => old.keys.includes(key)) ? undefined : "all-keys-changed";
}

/** The volume whose encryption a change may be about. */
function volumeOf({ document, path }: ConfigChange): string | undefined {
  const [, kind = "", ...name] = document.split("/");
  if (kind === legacyKind) return /^machine\.systemDiskEncryption\.(state|ephemeral)\b/.exec(path)?.[1]?.toUpperCase();
  if (!volumeKinds.has(kind) || (path !== "" && !/^encryption\b/.test(path))) return undefined;
  return kind === "VolumeConfig" ? name.join("/") : `${kind}/${name.join("/")}`;
}

/** Volumes of a config with their encryption; system volumes that it says nothing of are there and have none. */
function encryptions(text: string): { readonly get: (volume: string) => Encryption | "none" | undefined } {
  const found = new Map<string, Encryption | "none">();
  for (const { root } of readYaml(text)) {
    const identity = root === undefined ? undefined : identityOf(root);
    if (root === undefined || identity === undefined) continue;
    if (identity.kind === legacyKind)
      for (const name of ["state", "ephemeral"]) add(found, name.toUpperCase(), nodeAt(root, "machine", "systemDiskEncryption", name));
    else if (volumeKinds.has(identity.kind)) {
      const volume = volumeOf({ document: identityText(identity), path: "" } as ConfigChange) ?? "";
      add(found, volume, nodeAt(root, "encryption"));
    }
  }
  return { get: (volume) => found.get(volume) ?? (volume.includes("/") ? undefined : "none") };
}

function add(found: Map<string, Encryption | "none">, volume: string, node: YamlNode | undefined): void {
  const provider = textAt(node, "provider") ?? "none";
  if (provider === "none" && found.has(volume)) return;
  const keys = nodeAt(node, "keys");
  found.set(volume, provider === "none" ? "none" : { keys: keys?.type === "sequence" ? keys.items.map(spelled) : [] });
}

/** One spelling of a key: the order of its members, and members that say nothing, do not count. */
function spelled(node: YamlNode): string {
  if (node.type === "scalar") return node.text;
  if (node.type === "sequence") return JSON.stringify(node.items.map(spelled));
  const isSaid = ({ value }: { readonly value: YamlNode }): boolean =>
    !(value.type === "scalar" && (value.kind === "null" || ["0", "false", ""].includes(value.text)));
  const members = node.entries.filter(isSaid).map(({ key, value }) => [key, spelled(value)] as const);
  return JSON.stringify(members.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
