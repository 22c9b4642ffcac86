import type { Contract } from "../versions/contract.ts";
import type { ConfigDocument } from "./document/load.ts";
import { printDocuments } from "./document/print.ts";
import type { ConfigMap, ConfigValue } from "./document/value.ts";
import { generationOf, loadConfig } from "./patch/patch.ts";
import { legacyKind } from "./document-identity.ts";

/** How a config is made fit to be shown. */
export interface RedactOptions {
  /** What stands for a secret, default `**REDACTED**`. Where a config holds base64, the base64 of it. */
  readonly replacement?: string;
  /** Documents and rules of this contract's Talos; default: the newest that is known. */
  readonly contract?: Contract;
}

/**
 * The canonical text of a config with every secret replaced: what `talosctl get machineconfig` shows to those who may not see keys.
 *
 * It knows the fields that are secrets. What a user wrote into files, manifests, environment variables or kernel arguments stays as it is.
 *
 * @throws ConfigError as reading a config does
 */
export function redactMachineConfig(config: string, options: RedactOptions = {}): string {
  const generation = generationOf(options.contract);
  return printDocuments(redactDocuments(loadConfig(config, generation), options.replacement ?? "**REDACTED**"), generation);
}

/** The documents with every secret replaced; the given ones are left as they are. */
function redactDocuments(documents: readonly ConfigDocument[], replacement: string): readonly ConfigDocument[] {
  return documents.map((document) => {
    const members = copyOf(document.members) as ConfigMap;
    for (const secret of secretsOf.get(document.shape.kind) ?? []) {
      replaceAt(members, secret.path.split("."), (value) => secret.replace(value, replacement));
    }
    return { ...document, members };
  });
}

/** A field that holds a secret; `*` stands for every item of a list and every member of a map, `**` for any way down. */
interface SecretField {
  readonly path: string;
  readonly replace: (value: ConfigValue, replacement: string) => ConfigValue;
}

const text = (path: string): SecretField => ({ path, replace: (value, replacement) => (value === "" ? value : replacement) });
const base64 = (path: string): SecretField => ({
  path,
  replace: (value, replacement) => (value === "" ? value : Buffer.from(replacement).toString("base64")),
});

const diskKeys = [text("encryption.keys.*.static.passphrase")];
const vipTokens = (path: string): readonly SecretField[] => [text(`${path}.equinixMetal.apiToken`), text(`${path}.hcloud.apiToken`)];

const secretsOf: ReadonlyMap<string, readonly SecretField[]> = new Map([
  [
    legacyKind,
    [
      text("machine.token"),
      base64("machine.ca.key"),
      text("machine.registries.config.*.auth.password"),
      text("machine.registries.config.*.auth.auth"),
      text("machine.registries.config.*.auth.identityToken"),
      base64("machine.registries.config.*.tls.clientIdentity.key"),
      text("machine.network.interfaces.*.wireguard.privateKey"),
      ...vipTokens("machine.network.interfaces.*.vip"),
      ...vipTokens("machine.network.interfaces.*.vlans.*.vip"),
      text("machine.systemDiskEncryption.state.keys.*.static.passphrase"),
      text("machine.systemDiskEncryption.ephemeral.keys.*.static.passphrase"),
      text("cluster.secret"),
      text("cluster.token"),
      text("cluster.aescbcEncryptionSecret"),
      text("cluster.secretboxEncryptionSecret"),
      base64("cluster.serviceAccount.key"),
      base64("cluster.ca.key"),
      base64("cluster.aggregatorCA.key"),
      base64("cluster.etcd.ca.key"),
    ],
  ],
  ["DiscoveryIdentityConfig", [text("clusterSecret")]],
  ["HCloudVIPConfig", [text("apiToken")]],
  ["KubeAPIServerCAConfig", [text("issuingCA.key")]],
  ["KubeAggregatorCAConfig", [text("issuingCA.key")]],
  // Free-form: whatever kind of provider, its keys are called so.
  ["KubeEtcdEncryptionConfig", [{ path: "config.**.secret", replace: (_, replacement) => replacement }]],
  ["KubeServiceAccountConfig", [text("issuer.privateKey")]],
  ["RawVolumeConfig", diskKeys],
  ["RegistryAuthConfig", [text("password"), text("auth"), text("identityToken")]],
  ["RegistryTLSConfig", [text("clientIdentity.key")]],
  [
    "SideroLinkConfig",
    [
      text("uniqueToken"),
      { path: "apiUrl", replace: (value, replacement) => (typeof value === "string" ? withoutJoinToken(value, replacement) : value) },
    ],
  ],
  ["SwapVolumeConfig", diskKeys],
  ["UserVolumeConfig", diskKeys],
  ["VolumeConfig", diskKeys],
  ["WireguardConfig", [text("privateKey"), text("peers.*.presharedKey")]],
]);

function replaceAt(value: ConfigValue | undefined, path: readonly string[], replace: (value: ConfigValue) => ConfigValue): void {
  const [step, ...rest] = path;
  if (step === undefined || value === undefined) return;
  if (step === "**") return replaceBelow(value, rest, replace);
  if (step === "*") {
    for (const member of membersOf(value)) replaceAt(member, rest, replace);
  } else if (value instanceof Map) {
    const member = value.get(step);
    if (member === undefined) return;
    if (rest.length > 0) replaceAt(member, rest, replace);
    else value.set(step, replace(member));
  }
}

function replaceBelow(value: ConfigValue, path: readonly string[], replace: (value: ConfigValue) => ConfigValue): void {
  replaceAt(value, path, replace);
  for (const member of membersOf(value)) replaceBelow(member, path, replace);
}

function copyOf(value: ConfigValue): ConfigValue {
  if (Array.isArray(value)) return value.map(copyOf);
  return value instanceof Map ? new Map([...value].map(([key, member]) => [key, copyOf(member)])) : value;
}

function membersOf(value: ConfigValue): readonly ConfigValue[] {
  return Array.isArray(value) ? value : value instanceof Map ? [...value.values()] : [];
}

/** The query is written anew, sorted and escaped as Go does it, whether it holds a token or not. */
function withoutJoinToken(url: string, replacement: string): string {
  const [, before = "", , query = "", fragment = ""] = /^([^?#]*)(\?([^#]*))?(#.*)?$/s.exec(url) ?? [];
  const pairs = query.split("&").flatMap((pair): (readonly [string, string])[] => {
    const at = pair.indexOf("=");
    const [key, value] = at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
    return pair === "" ? [] : [[unescaped(key), unescaped(value)]];
  });
  const isToken = ([key]: readonly [string, string]): boolean => key === "jointoken";
  const kept = pairs.filter((pair) => !isToken(pair));
  if (pairs.some(isToken)) kept.push(["jointoken", replacement]);
  const sorted = kept.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const encoded = sorted.map(([key, value]) => `${escaped(key)}=${escaped(value)}`).join("&");
  return `${before}${encoded === "" ? "" : `?${encoded}`}${fragment}`;
}

function unescaped(part: string): string {
  const spaced = part.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    // What is no proper escape is hidden with everything else: better too much than a token.
    return "";
  }
}

function escaped(part: string): string {
  return encodeURIComponent(part)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}
