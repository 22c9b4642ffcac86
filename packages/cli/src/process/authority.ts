import type { Clock, KeyPair, Keys } from "@talos-operator/ports";
import type { DataFolder } from "./data-folder.ts";

const YEAR_MS = 365 * 24 * 3_600_000;
/** Clocks of client and server may differ a little; both are on one machine here. */
const BACKDATE_MS = 60_000;

/** Keys of the embedded API: its CA is kept, so that kubeconfigs stay valid; leaves are made at every start. */
export interface ApiAuthority {
  readonly authority: KeyPair;
  readonly server: KeyPair;
  /** Member of `system:masters`. */
  readonly admin: KeyPair;
}

/** Reads the CA from the data folder, or creates it there. */
export async function openApiAuthority(keys: Keys, clock: Clock, folder: DataFolder, address: string): Promise<ApiAuthority> {
  const notBefore = clock.now() - BACKDATE_MS;
  const authority = readPair(folder) ?? (await createPair(keys, notBefore, folder));
  const isAddress = /^[\d.]+$|:/.test(address);
  return {
    authority,
    server: await keys.signCertificate(authority, {
      usage: "server",
      commonName: "talos-operator",
      notBefore,
      lifetimeMs: YEAR_MS,
      dnsNames: ["localhost", ...(isAddress ? [] : [address])],
      ipAddresses: [...new Set(["127.0.0.1", "::1", ...(isAddress ? [address] : [])])],
    }),
    admin: await keys.signCertificate(authority, {
      usage: "client",
      commonName: "admin",
      organizations: ["system:masters"],
      notBefore,
      lifetimeMs: YEAR_MS,
    }),
  };
}

function readPair(folder: DataFolder): KeyPair | undefined {
  // Key and certificate are one file, so that a crash between two writes cannot leave halves that do not belong together.
  const text = folder.read("pki", "authority.json");
  return text === undefined ? undefined : (JSON.parse(text) as KeyPair);
}

async function createPair(keys: Keys, notBefore: number, folder: DataFolder): Promise<KeyPair> {
  const pair = await keys.createAuthority({ kind: "p256", organization: "talos-operator", notBefore });
  // Spelled out: a key pair shows its key to nobody who merely prints it.
  folder.write(`${JSON.stringify({ certificate: pair.certificate, key: pair.key })}\n`, "pki", "authority.json");
  return pair;
}
