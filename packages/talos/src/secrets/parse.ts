import type { KeyPair } from "@talos-operator/ports";
import { ConfigError } from "../config/errors.ts";
import { plainValue } from "../config/yaml/plain-value.ts";
import { readYaml, type YamlMappingNode, type YamlNode } from "../config/yaml/read.ts";
import { createSecretsBundle, type SecretsBundle } from "./bundle.ts";

/**
 * Reads a `secrets.yaml`. Fields that we do not know are kept and printed again; everything that a cluster needs must be there.
 *
 * PEM texts are not looked into: {@link isSecretsBundleConsistent} asks the Keys port whether key and certificate belong together.
 *
 * @throws ConfigError `INVALID_BUNDLE` for what is missing, and the codes of reading YAML
 */
export function parseSecretsBundle(text: string): SecretsBundle {
  const root = readYaml(text)[0]?.root;
  if (root?.type !== "mapping") throw invalid("the text is not a mapping");
  const unknown: Record<string, unknown> = {};
  const top = new Section(root, "", unknown);
  const cluster = top.section("cluster");
  const secrets = top.section("secrets");
  const trustd = top.section("trustdinfo");
  const certs = top.section("certs");
  const serviceAccount = certs.section("k8sserviceaccount");
  const secretbox = secrets.optional("secretboxencryptionsecret");
  const aescbc = secrets.optional("aescbcencryptionsecret");
  if ((secretbox === undefined) === (aescbc === undefined)) {
    const names = "[secrets.secretboxencryptionsecret, secrets.aescbcencryptionsecret]";
    throw invalid(secretbox === undefined ? `one of ${names} is required` : `only one of ${names} is allowed`, "secrets");
  }
  const bundle = {
    cluster: { id: cluster.required("id"), secret: cluster.required("secret") },
    secrets: {
      bootstrapToken: secrets.required("bootstraptoken"),
      ...(secretbox === undefined ? {} : { secretboxEncryptionSecret: secretbox }),
      ...(aescbc === undefined ? {} : { aescbcEncryptionSecret: aescbc }),
    },
    trustdInfo: { token: trustd.required("token") },
    certs: {
      etcd: certs.pair("etcd"),
      k8s: certs.pair("k8s"),
      k8sAggregator: certs.pair("k8saggregator"),
      k8sServiceAccount: { key: serviceAccount.pem("key") },
      os: certs.pair("os"),
    },
  };
  for (const section of [serviceAccount, certs, trustd, secrets, cluster, top]) section.keepTheRest();
  return createSecretsBundle({ ...bundle, ...(Object.keys(unknown).length === 0 ? {} : { unknown }) });
}

/** One mapping of the bundle; what is never asked for is unknown and kept. */
class Section {
  readonly #path: string;
  readonly #members: Map<string, YamlNode>;
  readonly #unknown: Record<string, unknown>;

  constructor(node: YamlMappingNode, path: string, unknown: Record<string, unknown>) {
    this.#path = path;
    this.#members = new Map(node.entries.map(({ key, value }) => [key, value]));
    this.#unknown = unknown;
  }

  section(name: string): Section {
    const node = this.#take(name);
    if (node === undefined) throw invalid(`${this.#pathOf(name)} is required`, this.#pathOf(name));
    if (node.type !== "mapping") throw invalid(`${this.#pathOf(name)} is not a mapping`, this.#pathOf(name), node);
    return new Section(node, this.#pathOf(name), this.#unknown);
  }

  optional(name: string): string | undefined {
    const node = this.#take(name);
    if (node === undefined) return undefined;
    if (node.type !== "scalar") throw invalid(`${this.#pathOf(name)} is not a string`, this.#pathOf(name), node);
    return node.text === "" || (node.kind === "null" && node.text !== "") ? undefined : node.text;
  }

  required(name: string): string {
    const value = this.optional(name);
    if (value === undefined) throw invalid(`${this.#pathOf(name)} is required`, this.#pathOf(name));
    return value;
  }

  pem(name: string): string {
    const text = this.required(name);
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
      throw invalid(`${this.#pathOf(name)} is not standard base64`, this.#pathOf(name));
    }
    return Buffer.from(text, "base64").toString("utf8");
  }

  pair(name: string): KeyPair {
    const section = this.section(name);
    const pair = { certificate: section.pem("crt"), key: section.pem("key") };
    section.keepTheRest();
    return pair;
  }

  keepTheRest(): void {
    for (const [key, node] of this.#members) this.#unknown[this.#pathOf(key)] = plainValue(node);
  }

  #take(name: string): YamlNode | undefined {
    const node = this.#members.get(name);
    this.#members.delete(name);
    return node?.type === "scalar" && node.kind === "null" ? undefined : node;
  }

  #pathOf(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }
}

function invalid(detail: string, path?: string, node?: YamlNode): ConfigError {
  return new ConfigError("INVALID_BUNDLE", detail, { path, line: node?.line, column: node?.column });
}
