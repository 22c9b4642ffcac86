import { createHash } from "node:crypto";
import type { KeyPair } from "@talos-operator/ports";
import { emitYaml, type YamlValue } from "../config/yaml/emit.ts";
import type { SecretsBundle } from "./bundle.ts";
import { redactedKey } from "./read.ts";

/** The text of `secrets.yaml`, as talosctl writes it; unknown fields come after the known ones of their section. */
export function printSecretsBundle(bundle: SecretsBundle): string {
  return emitYaml(withUnknown(knownFields(bundle), bundle.unknown ?? {}));
}

/**
 * SHA-256 over the known fields of a bundle, as `sha256:` and lower-case hex. Equal fingerprints mean the same keys, whatever the layout of
 * the text was. It tells nothing about the keys and may be stored and shown.
 */
export function fingerprintSecretsBundle(bundle: SecretsBundle): string {
  return `sha256:${createHash("sha256")
    .update(emitYaml(knownFields(bundle)))
    .digest("hex")}`;
}

type Section = Record<string, YamlValue>;

function knownFields({ cluster, secrets, trustdInfo, certs }: SecretsBundle): Section {
  return {
    cluster: { id: cluster.id, secret: cluster.secret },
    secrets: {
      bootstraptoken: secrets.bootstrapToken,
      ...(secrets.secretboxEncryptionSecret === undefined ? {} : { secretboxencryptionsecret: secrets.secretboxEncryptionSecret }),
      ...(secrets.aescbcEncryptionSecret === undefined ? {} : { aescbcencryptionsecret: secrets.aescbcEncryptionSecret }),
    },
    trustdinfo: { token: trustdInfo.token },
    certs: {
      etcd: pair(certs.etcd),
      k8s: pair(certs.k8s),
      k8saggregator: pair(certs.k8sAggregator),
      k8sserviceaccount: { key: certs.k8sServiceAccount.key === redactedKey ? redactedKey : base64(certs.k8sServiceAccount.key) },
      os: pair(certs.os),
    },
  };
}

function pair({ certificate, key }: KeyPair): Section {
  return { crt: base64(certificate), key: key === redactedKey ? key : base64(key) };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function withUnknown(sections: Section, unknown: Readonly<Record<string, unknown>>): Section {
  const out = sections;
  for (const [path, value] of Object.entries(unknown)) {
    const steps = path.split(/(?<!\\)\./).map((step) => step.replaceAll("\\.", "."));
    const last = steps.pop() as string;
    let target = out;
    for (const step of steps) target = target[step] as Section;
    target[last] = value as YamlValue;
  }
  return out;
}
