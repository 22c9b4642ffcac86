import type { Clock, KeyPair, Keys } from "@talos-operator/ports";
import { CliError } from "../cli-error.ts";
import type { DataFolder } from "./data-folder.ts";
import { readKubeconfigPair } from "./kubeconfig.ts";

const YEAR_MS = 365 * 24 * 3_600_000;
/** Clocks of client and server may differ a little; both are on one machine here. */
const BACKDATE_MS = 60_000;

/**
 * Keys of the embedded API. Its CA is kept, so that kubeconfigs stay valid, and so is the administrator's certificate while it is good for long: a start
 * that changes nothing writes nothing, and needs no room on the disk. The server's is made at every start.
 */
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
    admin:
      keptAdmin(keys, clock, folder, authority) ??
      (await keys.signCertificate(authority, {
        usage: "client",
        commonName: "admin",
        organizations: ["system:masters"],
        notBefore,
        lifetimeMs: YEAR_MS,
      })),
  };
}

function readPair(folder: DataFolder): KeyPair | undefined {
  // Key and certificate are one file, so that a crash between two writes cannot leave halves that do not belong together.
  const text = folder.read("pki", "authority.json");
  if (text === undefined) return undefined;
  try {
    const { certificate, key } = JSON.parse(text) as Partial<KeyPair>;
    if (typeof certificate === "string" && typeof key === "string") return { certificate, key };
  } catch {
    // Said below; the parser's own words would show a part of the key.
  }
  throw new CliError(
    `${folder.file("pki", "authority.json")} does not hold the certificate authority of this data folder any more`,
    "Restore it from a copy; or remove it, and every kubeconfig that was made with it stops working.",
  );
}

/** The administrator's certificate in the kubeconfig of the start before, while it is good for half of its time at least. */
function keptAdmin(keys: Keys, clock: Clock, folder: DataFolder, authority: KeyPair): KeyPair | undefined {
  const pair = readKubeconfigPair(folder.read("kubeconfig") ?? "");
  if (pair === undefined) return undefined;
  try {
    const now = clock.now();
    const isGood = [now, now + YEAR_MS / 2].every((at) => keys.verifyCertificate(pair.certificate, authority.certificate, at));
    const { organizations, commonName } = keys.describeCertificate(pair.certificate);
    return isGood && commonName === "admin" && organizations.includes("system:masters") && keys.isPair(pair) ? pair : undefined;
  } catch {
    // Somebody wrote something else there: it is made anew.
    return undefined;
  }
}

async function createPair(keys: Keys, notBefore: number, folder: DataFolder): Promise<KeyPair> {
  const pair = await keys.createAuthority({ kind: "p256", organization: "talos-operator", notBefore });
  // Spelled out: a key pair shows its key to nobody who merely prints it.
  folder.keep(`${JSON.stringify({ certificate: pair.certificate, key: pair.key })}\n`, "pki", "authority.json");
  return pair;
}
