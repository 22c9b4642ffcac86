import type { CertificateDetails } from "@talos-operator/adapters";
import { decodePem } from "../pki/pem.ts";
import { readPrivateKey } from "../pki/private-key.ts";
import { failed, passed, type GoldenContext, type GoldenOutcome } from "./case.ts";

/** The recorded properties of a certificate; validity is absent where the genuine tool took the time of the day. */
export type CertificateProperties = Readonly<Record<string, unknown>>;

/**
 * Compares a certificate, and its key where one is given, with recorded properties.
 *
 * @param except names of properties that are not compared
 */
export async function compareCertificate(
  what: string,
  pair: { readonly certificate: string; readonly key?: string },
  wanted: CertificateProperties,
  context: GoldenContext,
  except: readonly string[] = [],
): Promise<GoldenOutcome> {
  const got = propertiesOf(await context.inspect(pair.certificate), pair.key);
  for (const [name, value] of Object.entries(wanted)) {
    if (except.includes(name) || (name === "key" && pair.key === undefined)) continue;
    if (!isSame(name, got[name], value ?? [])) {
      return failed(`${what}: ${name} is ${JSON.stringify(got[name])}, want ${JSON.stringify(value)}`);
    }
  }
  return passed;
}

/** Whether sample certificates hang together as their case says. */
export function compareChain(
  what: string,
  pair: { readonly certificate: string; readonly key?: string },
  authority: string,
  { keys }: GoldenContext,
): GoldenOutcome {
  const { notBefore, notAfter } = keys.describeCertificate(pair.certificate);
  const isValidAt = (at: number): boolean => keys.verifyCertificate(pair.certificate, authority, at);
  if (!isValidAt(notBefore + 1000) || !isValidAt(notAfter - 1000)) return failed(`${what} does not verify while it is valid`);
  if (isValidAt(notBefore - 1000) || isValidAt(notAfter + 1000)) return failed(`${what} verifies outside its validity`);
  if (pair.key !== undefined && !keys.isPair({ certificate: pair.certificate, key: pair.key })) return failed(`${what} has another key`);
  return passed;
}

/** The recorded properties of a private key. */
export function keyProperties(text: string): Readonly<Record<string, unknown>> {
  const block = decodePem(text);
  const result = readPrivateKey(text, "authority");
  if (block === undefined || "refusal" in result) return { refusal: "refusal" in result ? result.refusal : "no PEM" };
  const { key } = result;
  const kind = key.asymmetricKeyType;
  return {
    algorithm: kind === "ed25519" ? "Ed25519" : kind === "ec" ? "ECDSA P-256" : `RSA ${key.asymmetricKeyDetails?.modulusLength ?? 0}`,
    der: { "RSA PRIVATE KEY": "PKCS#1", "EC PRIVATE KEY": "SEC1" }[block.label] ?? "PKCS#8",
    pem_type: block.label,
    trailing_bytes: text.slice(text.lastIndexOf("-----") + 6).length,
  };
}

function propertiesOf(certificate: CertificateDetails, key: string | undefined): Readonly<Record<string, unknown>> {
  const { subject, issuer } = certificate;
  return {
    version: 3,
    subject_o: subject.organizations,
    subject_cn: subject.commonName ?? "",
    issuer_o: issuer.organizations,
    issuer_cn: issuer.commonName ?? "",
    not_before: seconds(certificate.notBefore),
    not_after: seconds(certificate.notAfter),
    validity_hours: (certificate.notAfter - certificate.notBefore) / 3_600_000,
    public_key: certificate.publicKey,
    signature_algorithm: certificate.signatureAlgorithm,
    is_ca: certificate.isAuthority,
    basic_constraints_present: certificate.extensions.some((extension) => extension.startsWith("2.5.29.19")),
    // Go's way of saying "no limit" and "not an authority".
    max_path_len: certificate.pathLength ?? (certificate.isAuthority ? -1 : 0),
    max_path_len_zero: certificate.pathLength === 0,
    key_usage: certificate.keyUsage,
    ext_key_usage: certificate.extendedKeyUsage,
    dns_sans: certificate.dnsNames,
    ip_sans: certificate.ipAddresses,
    subject_key_id_bytes: certificate.subjectKeyId.length / 2,
    authority_key_id_bytes: certificate.authorityKeyId.length / 2,
    serial_bits_max: certificate.serial.replace(/^0+/, "").length * 4,
    extensions: certificate.extensions,
    ...(key === undefined ? {} : { key: keyProperties(key) }),
  };
}

function seconds(at: number): string {
  return new Date(at).toISOString().replace(".000", "");
}

function isSame(name: string, got: unknown, wanted: unknown): boolean {
  if (name === "validity_hours") return Math.abs(Number(got) - Number(wanted)) < 0.01;
  if (name === "serial_bits_max") return Number(got) <= Number(wanted);
  if (Array.isArray(got) && Array.isArray(wanted)) return inOrder(got) === inOrder(wanted);
  if (typeof got === "object" && got !== null) return JSON.stringify(sorted(got)) === JSON.stringify(sorted(wanted as object));
  return got === wanted;
}

function sorted(members: object): readonly (readonly [string, unknown])[] {
  return Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Lists of a certificate are sets. */
function inOrder(list: readonly unknown[]): string {
  return list
    .map(String)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join();
}
