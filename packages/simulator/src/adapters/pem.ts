import { configFactsOf } from "../node/config-facts.ts";
import type { Machine } from "../node/machine.ts";

/** OpenSSL does not know Talos's label for Ed25519 keys; the content is PKCS#8. */
export function standardKey(pem: string): string {
  return pem.replaceAll("ED25519 PRIVATE KEY", "PRIVATE KEY");
}

/** A certificate as the handshake gives it, as PEM. */
export function derCertificateToPem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** CAs whose client certificates this machine accepts. */
export function clientAuthoritiesOf(machine: Machine): readonly string[] {
  return machine.config.active === undefined ? [] : configFactsOf(machine.config.active).acceptedOsCas;
}
