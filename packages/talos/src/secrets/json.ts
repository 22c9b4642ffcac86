import { ConfigError } from "../config/errors.ts";
import { parseBase64 } from "../config/scalars/base64.ts";
import type { SecretsBundle } from "./bundle.ts";
import { bundleOfParts, type CertificateParts, type PairParts } from "./parts.ts";

/**
 * The JSON form of a bundle, as programs around Talos exchange it: two spaces a level, names such as `TrustdInfo.Token`. Fields that this
 * version does not know are left out.
 */
export function printSecretsBundleJson({ cluster, secrets, trustdInfo, certs }: SecretsBundle): string {
  const pair = ({ certificate, key }: PairParts): object => ({ Crt: encode(certificate), Key: encode(key) });
  const members = {
    Cluster: { Id: cluster.id, Secret: cluster.secret },
    Secrets: {
      BootstrapToken: secrets.bootstrapToken,
      AESCBCEncryptionSecret: secrets.aescbcEncryptionSecret,
      SecretboxEncryptionSecret: secrets.secretboxEncryptionSecret,
    },
    TrustdInfo: { Token: trustdInfo.token },
    Certs: {
      Etcd: pair(certs.etcd),
      K8s: pair(certs.k8s),
      K8sAggregator: pair(certs.k8sAggregator),
      K8sServiceAccount: { Key: encode(certs.k8sServiceAccount.key) },
      OS: pair(certs.os),
    },
  };
  // Go escapes what could end a script element.
  const escape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(members, undefined, 2).replace(/[<>&\u2028\u2029]/g, escape);
}

/**
 * Reads the JSON form of a bundle. Names are taken in any case of letters, as Go takes them; unknown ones are passed over.
 *
 * @throws ConfigError `WRONG_TYPE` for text that is not JSON or has another shape, `INVALID_VALUE` for a key that is not base64,
 * `INVALID_BUNDLE` with all that is missing, `YAML_LIMIT` for more than 4 MiB
 */
export function parseSecretsBundleJson(text: string): SecretsBundle {
  const root = new JsonObject(parseJson(text), "");
  const cluster = root.object("cluster");
  const secrets = root.object("secrets");
  const trustdInfo = root.object("trustdinfo");
  const certs = root.object("certs");
  return bundleOfParts({
    cluster: cluster && { id: cluster.text("id"), secret: cluster.text("secret") },
    secrets: secrets && {
      bootstrapToken: secrets.text("bootstraptoken"),
      secretbox: secrets.text("secretboxencryptionsecret"),
      aescbc: secrets.text("aescbcencryptionsecret"),
    },
    trustdInfo: trustdInfo && { token: trustdInfo.text("token") },
    certs: certs && certificates(certs),
  });
}

function certificates(certs: JsonObject): CertificateParts {
  const pair = (name: string): PairParts | undefined => {
    const object = certs.object(name);
    return object && { certificate: object.bytes("crt"), key: object.bytes("key") };
  };
  const serviceAccount = certs.object("k8sserviceaccount");
  return {
    etcd: pair("etcd"),
    k8s: pair("k8s"),
    k8sAggregator: pair("k8saggregator"),
    k8sServiceAccount: serviceAccount && { key: serviceAccount.bytes("key") },
    os: pair("os"),
  };
}

class JsonObject {
  readonly #members: ReadonlyMap<string, unknown>;
  readonly #path: string;

  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrongType(path, "an object");
    this.#members = new Map(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]));
    this.#path = path;
  }

  object(name: string): JsonObject | undefined {
    const value = this.#members.get(name);
    return value === undefined || value === null ? undefined : new JsonObject(value, this.#pathOf(name));
  }

  text(name: string): string {
    const value = this.#members.get(name) ?? "";
    if (typeof value !== "string") throw wrongType(this.#pathOf(name), "a string");
    return value;
  }

  bytes(name: string): string {
    const parsed = parseBase64(this.text(name));
    if ("refusal" in parsed) throw new ConfigError("INVALID_VALUE", parsed.refusal, { path: this.#pathOf(name) });
    return Buffer.from(parsed.text, "base64").toString("utf8");
  }

  #pathOf(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }
}

/** As for YAML. */
const maxBytes = 4 * 1024 * 1024;

function parseJson(text: string): unknown {
  if (text.length > maxBytes) throw new ConfigError("YAML_LIMIT", `the text is larger than ${maxBytes} bytes`);
  try {
    return JSON.parse(text);
  } catch {
    // The engine's message quotes the text, which is full of keys.
    throw new ConfigError("WRONG_TYPE", "the text is not JSON");
  }
}

function wrongType(path: string, wanted: string): ConfigError {
  return new ConfigError("WRONG_TYPE", `${path === "" ? "the bundle" : path} is not ${wanted}`, { path });
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}
