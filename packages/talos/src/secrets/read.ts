import type { Generation } from "../config/schema/notation.ts";
import { parseBase64 } from "../config/scalars/base64.ts";
import { plainValue } from "../config/yaml/plain-value.ts";
import type { YamlNode } from "../config/yaml/node.ts";
import { isNull, StructReader } from "../config/yaml/struct-reader.ts";
import type { BundleParts, CertificateParts, PairParts } from "./parts.ts";

/** How Talos writes a key that it does not show. It stands in the text as it is, not in base64. */
export const redactedKey = "******";

/**
 * Reads the text of `secrets.yaml` without asking whether it is whole. Fields that are not known are kept.
 *
 * @throws ConfigError `WRONG_TYPE`, `INVALID_VALUE`, `NOT_A_DOCUMENT`, and the codes of reading YAML
 */
export function readBundleParts(text: string, generation: Generation): BundleParts {
  const unknown: Record<string, unknown> = {};
  const reader = new StructReader({ generation, unknown: (node, path) => (unknown[path] = plainValue(node)) });
  const parts: { -readonly [K in keyof BundleParts]: BundleParts[K] } = {};
  reader.fields(reader.root(text), "secrets.Bundle", "", {
    cluster: (node, path) => {
      const { id = "", secret = "", isThere } = readTexts(reader, node, "secrets.Cluster", path, ["id", "secret"]);
      if (isThere) parts.cluster = { id, secret };
    },
    secrets: (node, path) => {
      const names = ["bootstraptoken", "aescbcencryptionsecret", "secretboxencryptionsecret"] as const;
      const texts = readTexts(reader, node, "secrets.Secrets", path, names);
      if (!texts.isThere) return;
      parts.secrets = {
        bootstrapToken: texts.bootstraptoken ?? "",
        secretbox: texts.secretboxencryptionsecret ?? "",
        aescbc: texts.aescbcencryptionsecret ?? "",
      };
    },
    trustdinfo: (node, path) => {
      const { token = "", isThere } = readTexts(reader, node, "secrets.TrustdInfo", path, ["token"]);
      if (isThere) parts.trustdInfo = { token };
    },
    certs: (node, path) => (parts.certs = readCertificates(reader, node, path)),
  });
  reader.throwProblems();
  return { ...parts, unknown };
}

function readCertificates(reader: StructReader, node: YamlNode, path: string): CertificateParts | undefined {
  const certs: { -readonly [K in keyof CertificateParts]: CertificateParts[K] } = {};
  const isThere = reader.fields(node, "secrets.Certs", path, {
    etcd: (value, at) => (certs.etcd = readPair(reader, value, at)),
    k8s: (value, at) => (certs.k8s = readPair(reader, value, at)),
    k8saggregator: (value, at) => (certs.k8sAggregator = readPair(reader, value, at)),
    k8sserviceaccount: (value, at) => {
      const { key, isThere: isKeyThere } = readTexts(reader, value, "x509.PEMEncodedKey", at, ["key"]);
      if (isKeyThere) certs.k8sServiceAccount = { key: decodeKey(reader, value, at, key) };
    },
    os: (value, at) => (certs.os = readPair(reader, value, at)),
  });
  return isThere ? certs : undefined;
}

function readPair(reader: StructReader, node: YamlNode, path: string): PairParts | undefined {
  const before = reader.problemCount;
  const { crt, key, isThere } = readTexts(reader, node, "x509.PEMEncodedCertificateAndKey", path, ["crt", "key"]);
  if (!isThere || reader.problemCount > before) return undefined;
  // The genuine reader stops at the first of the two that is no base64.
  const certificate = decodeBase64(reader, node, path, crt);
  return reader.problemCount > before ? undefined : { certificate, key: decodeKey(reader, node, path, key) };
}

function readTexts<K extends string>(
  reader: StructReader,
  node: YamlNode,
  type: string,
  path: string,
  names: readonly K[],
): { readonly [N in K]?: string | undefined } & { readonly isThere: boolean } {
  const texts: { [N in K]?: string | undefined } = {};
  const readers = Object.fromEntries(names.map((name) => [name, (value: YamlNode, at: string) => (texts[name] = reader.text(value, at))]));
  reader.fields(node, type, path, readers);
  return { ...texts, isThere: node.type === "mapping" && !isNull(node) };
}

function decodeKey(reader: StructReader, node: YamlNode, path: string, text: string | undefined): string {
  return text === redactedKey ? redactedKey : decodeBase64(reader, node, path, text);
}

/** The place of a refusal is that of the pair: the genuine reader knows no better. */
function decodeBase64(reader: StructReader, node: YamlNode, path: string, text: string | undefined): string {
  const parsed = parseBase64(text ?? "");
  if ("refusal" in parsed) {
    reader.problem("INVALID_VALUE", node, path, parsed.refusal);
    return "";
  }
  return Buffer.from(parsed.text, "base64").toString("utf8");
}
