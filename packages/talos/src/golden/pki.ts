import { fingerprintOf, readCertificate } from "../pki/certificate.ts";
import { readPrivateKey } from "../pki/private-key.ts";
import { parseSecretsBundle } from "../secrets/parse.ts";
import { signClientCertificate } from "../talosconfig/client-certificate.ts";
import { tryParseDuration } from "../config/scalars/duration.ts";
import { compareCertificate, compareChain, type CertificateProperties } from "./certificates.ts";
import { compareText, failed, notRun, passed, textOf, worstOf, type GoldenCase, type GoldenContext, type GoldenOutcome } from "./case.ts";

/** Client certificates, chains, fingerprints, and which private keys are taken. */
export function runPki(golden: GoldenCase, context: GoldenContext): GoldenOutcome | Promise<GoldenOutcome> {
  switch (golden.input["op"]) {
    case "talos-client-cert":
      return runClientCertificate(golden, context);
    case "chain":
      return runChain(golden, context);
    case "fingerprints":
      return runFingerprints(golden, context);
    case "parse-key":
      return runParseKey(golden, context);
    default:
      return notRun(`no code for ${String(golden.input["op"])}`);
  }
}

async function runClientCertificate(golden: GoldenCase, context: GoldenContext): Promise<GoldenOutcome> {
  const { input, expected } = golden;
  const authority = { certificate: textOf(input["ca_crt"], context), key: textOf(input["ca_key"], context) };
  const pair = await signClientCertificate({
    keys: context.keys,
    authority,
    roles: input["roles"] as readonly string[],
    notBefore: Date.parse(String(input["now"])),
    lifetimeMs: lifetimeMs(String(input["ttl"])),
  });
  const sample = { certificate: textOf(expected["sample_crt"], context), key: textOf(expected["sample_key"], context) };
  const properties = expected["properties"] as CertificateProperties;
  const roles = (expected["role_strings"] ?? []) as readonly string[];
  return worstOf([
    await compareCertificate("the certificate", pair, properties, context),
    await compareCertificate("the sample", sample, properties, context),
    compareText(
      [...context.keys.describeCertificate(pair.certificate).organizations].toSorted((a, b) => (a < b ? -1 : 1)).join(),
      roles.join(),
      "roles",
    ),
    compareChain("the certificate", pair, authority.certificate, context),
    compareChain("the sample", sample, authority.certificate, context),
  ]);
}

async function runChain(golden: GoldenCase, context: GoldenContext): Promise<GoldenOutcome> {
  const { input, expected } = golden;
  const text = (name: string): string => textOf(expected[name], context);
  const properties = (name: string): CertificateProperties => expected[`${name}_properties`] as CertificateProperties;
  const authority = { certificate: text("ca_crt"), key: text("ca_key") };
  const leaf = { certificate: text("leaf_crt"), key: text("leaf_key") };
  const signed = { certificate: text("csr_signed_crt"), key: text("csr_key") };
  const read = readCertificate(authority.certificate);
  if ("refusal" in read) return failed(read.refusal);
  const fingerprint = fingerprintOf(read.certificate);
  const wanted = properties("leaf") as { readonly [name: string]: unknown } & {
    readonly subject_o: readonly string[];
    readonly subject_cn: string;
    readonly dns_sans: readonly string[];
    readonly ip_sans: readonly string[];
    readonly validity_hours: number;
  };
  const notBefore = Date.parse(String(input["now"]));
  const ours = await context.keys.signCertificate(authority, {
    usage: "server",
    organizations: wanted.subject_o,
    commonName: wanted.subject_cn,
    notBefore,
    lifetimeMs: wanted.validity_hours * 3_600_000,
    dnsNames: wanted.dns_sans,
    ipAddresses: wanted.ip_sans,
  });
  // The Keys port gives what is not Ed25519 the key usage of Kubernetes: the Talos API has no other authorities.
  const except = input["algorithm"] === "ed25519" ? [] : ["key_usage"];
  return worstOf([
    compareText(fingerprint.base64, String(expected["ca_spki_fingerprint"]), "fingerprint"),
    compareText(fingerprint.hex, String(expected["ca_hash"]), "hash"),
    await compareCertificate("the authority", authority, properties("ca"), context),
    await compareCertificate("the leaf", leaf, properties("leaf"), context),
    await compareCertificate("the certificate from a request", signed, properties("csr_signed"), context),
    compareChain("the authority", authority, authority.certificate, context),
    compareChain("the leaf", leaf, authority.certificate, context),
    compareChain("the certificate from a request", signed, authority.certificate, context),
    await compareCertificate("our leaf", ours, wanted, context, except),
    compareChain("our leaf", ours, authority.certificate, context),
    await compareOurAuthority(String(input["algorithm"]), notBefore, properties("ca"), context),
  ]);
}

/** Talos makes no RSA authorities, and all of ours live ten years. */
async function compareOurAuthority(
  algorithm: string,
  notBefore: number,
  wanted: CertificateProperties,
  context: GoldenContext,
): Promise<GoldenOutcome> {
  if (algorithm === "rsa") return passed;
  const kind = algorithm === "ecdsa" ? "p256" : "ed25519";
  const [organization = ""] = wanted["subject_o"] as readonly string[];
  const pair = await context.keys.createAuthority({ kind, organization, notBefore });
  return compareCertificate("our authority", pair, wanted, context, ["not_after", "validity_hours"]);
}

async function runFingerprints(golden: GoldenCase, context: GoldenContext): Promise<GoldenOutcome> {
  const { etcd, k8s, k8sAggregator, os } = parseSecretsBundle(textOf(golden.input["bundle"], context)).certs;
  const pairs = { etcd, k8s, k8saggregator: k8sAggregator, os };
  const wanted = golden.expected["fingerprints"] as Readonly<Record<keyof typeof pairs, Readonly<Record<string, string>>>>;
  for (const [name, { certificate }] of Object.entries(pairs)) {
    const read = readCertificate(certificate);
    if ("refusal" in read) return failed(`${name}: ${read.refusal}`);
    const inspected = await context.inspect(certificate);
    const { base64, hex } = fingerprintOf(read.certificate);
    const got = { hash_hex: hex, serial_hex: inspected.serial, spki_sha256_base64: base64, subject_key_id: inspected.subjectKeyId };
    const want = wanted[name as keyof typeof pairs];
    for (const [property, value] of Object.entries(got)) {
      if (value !== want[property]) return failed(`${name}: ${property} is ${value}, want ${String(want[property])}`);
    }
  }
  return passed;
}

function runParseKey(golden: GoldenCase, context: GoldenContext): GoldenOutcome {
  const text = textOf(golden.input["key"], context);
  const refusalFor = (use: "authority" | "serviceAccount"): string => {
    const result = readPrivateKey(text, use);
    return "refusal" in result ? result.refusal : "taken";
  };
  return worstOf([
    compareText(refusalFor("authority"), textOrTaken(golden.expected["ca_key_error"]), "as a key of an authority"),
    compareText(refusalFor("serviceAccount"), textOrTaken(golden.expected["service_account_key_error"]), "as a service account key"),
  ]);
}

function textOrTaken(refusal: unknown): string {
  return typeof refusal === "string" ? refusal : "taken";
}

function lifetimeMs(text: string): number {
  return Number(tryParseDuration(text) ?? 0n) / 1e6;
}
