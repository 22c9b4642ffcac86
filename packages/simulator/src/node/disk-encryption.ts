import { loadAll } from "js-yaml";

/** Keys that unlock each system volume, in one spelling each; none = it is not encrypted. */
export interface VolumeKeys {
  readonly STATE: readonly string[];
  readonly EPHEMERAL: readonly string[];
}

type Volume = keyof VolumeKeys;
type Encryption = { readonly provider?: string; readonly keys?: readonly object[] } | undefined;
type Document =
  | {
      readonly kind?: string;
      readonly name?: string;
      readonly encryption?: Encryption;
      readonly machine?: { readonly systemDiskEncryption?: { readonly state?: Encryption; readonly ephemeral?: Encryption } };
    }
  | null
  | undefined;

const plain: VolumeKeys = { STATE: [], EPHEMERAL: [] };

/** What a configuration asks of the system volumes. */
export function volumeKeysOf(text: string): VolumeKeys {
  if (!text.includes("luks2")) return plain;
  const documents = loadAll(text) as readonly Document[];
  const legacy = documents.find((document) => document?.machine !== undefined)?.machine?.systemDiskEncryption;
  const own = (volume: Volume): Encryption =>
    documents.find((document) => document?.kind === "VolumeConfig" && document.name === volume)?.encryption;
  const keysOf = (encryption: Encryption): readonly string[] =>
    encryption?.provider === "luks2" ? (encryption.keys ?? []).map(spelled) : [];
  return { STATE: keysOf(own("STATE") ?? legacy?.state), EPHEMERAL: keysOf(own("EPHEMERAL") ?? legacy?.ephemeral) };
}

function spelled(key: object): string {
  return JSON.stringify(Object.entries({ slot: 0, ...key }).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Whether a volume that was made with some keys opens with others: Talos neither encrypts nor decrypts one that has data, and needs one key that it knows.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/pkg/controllers/block/internal/volumes/encrypt.go`, `internal/pkg/encryption/encryption.go`
 */
export function opens(made: readonly string[], asked: readonly string[]): boolean {
  if (made.length === 0 || asked.length === 0) return made.length === asked.length;
  return asked.some((key) => made.includes(key));
}
