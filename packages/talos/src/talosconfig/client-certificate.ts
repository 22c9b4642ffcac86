import type { KeyPair, Keys } from "@talos-operator/ports";

/** What a client certificate of the Talos API is made from. */
export interface ClientCertificateInput {
  readonly keys: Keys;
  /** The Talos CA with its key. */
  readonly authority: KeyPair;
  /** Talos roles, sorted into the subject, each once. Unknown ones are kept and grant nothing. Default `os:admin`. */
  readonly roles?: readonly string[];
  /** NotBefore, milliseconds since the epoch. */
  readonly notBefore: number;
  /** Default a year, as talosctl has it. Effects ask for minutes. */
  readonly lifetimeMs?: number;
}

/** A client certificate of the Talos API: its roles stand in the subject as organizations, and nothing else does. */
export async function signClientCertificate({
  keys,
  authority,
  roles = ["os:admin"],
  notBefore,
  lifetimeMs,
}: ClientCertificateInput): Promise<KeyPair> {
  return keys.signCertificate(authority, {
    usage: "client",
    organizations: [...new Set(roles.map((role) => role.trim()).filter((role) => role !== ""))].toSorted((a, b) => (a < b ? -1 : 1)),
    notBefore,
    lifetimeMs: lifetimeMs ?? 8760 * 3600 * 1000,
  });
}
