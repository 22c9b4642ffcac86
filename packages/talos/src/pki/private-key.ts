import { createPrivateKey, type KeyObject } from "node:crypto";
import { derRefusal, isWholeSequence, readDer } from "./der.ts";
import { decodePem } from "./pem.ts";

/** A private key that Talos takes, or the text with which it refuses. */
export type PrivateKeyResult = { readonly key: KeyObject } | { readonly refusal: string };

/** The two structures in Talos that hold a key word one refusal differently. */
export type PrivateKeyUse = "authority" | "serviceAccount";

type Form = "pkcs1" | "sec1" | "pkcs8";

/** The form of each label, and what Talos calls the key. */
const labels: ReadonlyMap<string, readonly [form: Form, name: string]> = new Map([
  ["RSA PRIVATE KEY", ["pkcs1", "RSA key"]],
  ["EC PRIVATE KEY", ["sec1", "ECDSA key"]],
  ["ED25519 PRIVATE KEY", ["pkcs8", "Ed25519 key"]],
  ["PRIVATE KEY", ["pkcs8", "key"]],
]);

/** What Go calls the structure of each form. */
const structures: Readonly<Record<Form, string>> = { pkcs1: "pkcs1PrivateKey", sec1: "ecPrivateKey", pkcs8: "pkcs8" };

/** The curves that Go knows, by the names that OpenSSL has for them. */
const goCurves: ReadonlySet<string> = new Set(["secp224r1", "prime256v1", "secp384r1", "secp521r1"]);

const parsers: Readonly<Record<Form, string>> = {
  pkcs1: "ParsePKCS1PrivateKey",
  sec1: "ParseECPrivateKey",
  pkcs8: "ParsePKCS8PrivateKey",
};

/**
 * Reads a private key from PEM text as Talos does: by its label, which must fit what is inside.
 *
 * @see siderolabs/crypto `x509/key.go`
 */
export function readPrivateKey(text: string, use: PrivateKeyUse): PrivateKeyResult {
  const block = decodePem(text);
  if (block === undefined) return { refusal: "failed to parse PEM block" };
  const known = labels.get(block.label);
  if (known === undefined) {
    return { refusal: `unsupported key type${use === "authority" ? ":" : ""} ${JSON.stringify(block.label)}` };
  }
  const [form, name] = known;
  const refused = (reason: string): PrivateKeyResult => ({ refusal: `failed to parse ${name}: ${reason}` });
  const actual = formOf(block.der);
  if (actual !== undefined && actual !== form) {
    return refused(`x509: failed to parse private key (use ${parsers[actual]} instead for this key format)`);
  }
  const broken = derRefusal(block.der, structures[form]);
  if (broken !== undefined) return refused(form === "sec1" ? `x509: failed to parse EC private key: ${broken}` : broken);
  if (form === "pkcs1" && readDer(block.der)?.rest.length !== 0) return refused("asn1: syntax error: trailing data");
  const key = parse(block.der, form);
  if (key === undefined) return refused("x509: failed to parse private key");
  if (key.asymmetricKeyType === "ec" && !goCurves.has(key.asymmetricKeyDetails?.namedCurve ?? "")) {
    return refused(`${form === "sec1" ? "" : "x509: failed to parse EC private key embedded in PKCS#8: "}x509: unknown elliptic curve`);
  }
  if (block.label === "ED25519 PRIVATE KEY" && key.asymmetricKeyType !== "ed25519") {
    return { refusal: "failed parsing Ed25519 key, got wrong key type" };
  }
  if (key.asymmetricKeyType === "x25519" && use === "serviceAccount") return { refusal: "unsupported key type *ecdh.PrivateKey" };
  return { key };
}

function parse(der: Uint8Array, form: Form): KeyObject | undefined {
  try {
    return createPrivateKey({ key: Buffer.from(der), format: "der", type: form });
  } catch {
    // OpenSSL says only that it cannot: the caller names the label, which is all that helps.
    return undefined;
  }
}

/** The form by what follows the version number: a list is PKCS#8, a number PKCS#1, bytes SEC1. `undefined` for anything else. */
function formOf(der: Uint8Array): Form | undefined {
  const outer = readDer(der);
  const version = isWholeSequence(outer) ? readDer(outer.content) : undefined;
  if (version === undefined || version.tag !== 2 || version.length !== 1) return undefined;
  switch (version.rest[0]) {
    case 0x30:
      return "pkcs8";
    case 0x02:
      return "pkcs1";
    case 0x04:
      return "sec1";
    default:
      return undefined;
  }
}
