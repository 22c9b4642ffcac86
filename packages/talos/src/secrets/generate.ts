import type { Clock, KeyPair, Keys, RandomSource } from "@talos-operator/ports";
import { compareContracts, featuresOf, type Contract } from "../versions/contract.ts";
import { createSecretsBundle, type SecretsBundle } from "./bundle.ts";

/** What a new bundle is made from. */
export interface SecretsBundleInput {
  readonly contract: Contract;
  /** `now` becomes NotBefore of every CA. */
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly keys: Keys;
  /** Key of the service account in PEM, made beforehand because RSA takes long. Default: one is made as the contract says. */
  readonly serviceAccountKey?: string;
  /** Bootstrap token of a cluster that exists already. Default: a new one. */
  readonly bootstrapToken?: string;
  /** Token with which workers join the Talos API, for one that somebody chose. Default: a new one. */
  readonly trustdToken?: string;
  /** Authorities of a cluster that exists already, or that somebody chose. Default: new ones. */
  readonly authorities?: { readonly etcd?: KeyPair; readonly k8s?: KeyPair; readonly k8sAggregator?: KeyPair; readonly os?: KeyPair };
}

/**
 * Makes the secrets of a new cluster by the rules of the contract: Ed25519 for the Talos CA, P-256 for the Kubernetes ones, RSA 4096 for the
 * service account from contract 1.7 on, secretbox from 1.3 on. Never call it for a cluster that already has a bundle.
 */
export async function generateSecretsBundle(input: SecretsBundleInput): Promise<SecretsBundle> {
  const { contract, clock, random, keys, authorities = {} } = input;
  const features = featuresOf(contract);
  const notBefore = clock.now();
  // Random texts before keys, in a fixed order: the same seed gives the same bundle.
  const id = base64(random.bytes(32));
  const texts = {
    cluster: { id: compareContracts(contract, "1.14") >= 0 ? id : urlSafe(id), secret: base64(random.bytes(32)) },
    bootstrapToken: input.bootstrapToken ?? token(random),
    encryption: base64(random.bytes(32)),
    trustd: input.trustdToken ?? token(random),
  };
  const etcd = authorities.etcd ?? (await keys.createAuthority({ kind: "p256", organization: "etcd", notBefore }));
  const k8s = authorities.k8s ?? (await keys.createAuthority({ kind: "p256", organization: "kubernetes", notBefore }));
  const k8sAggregator = authorities.k8sAggregator ?? (await keys.createAuthority({ kind: "p256", notBefore }));
  const serviceAccount = input.serviceAccountKey ?? (await keys.createPrivateKey(features.rsaServiceAccountKey ? "rsa4096" : "p256"));
  const os = authorities.os ?? (await keys.createAuthority({ kind: "ed25519", organization: "talos", notBefore }));
  return createSecretsBundle({
    cluster: texts.cluster,
    secrets: {
      bootstrapToken: texts.bootstrapToken,
      ...(features.secretboxEncryption ? { secretboxEncryptionSecret: texts.encryption } : { aescbcEncryptionSecret: texts.encryption }),
    },
    trustdInfo: { token: texts.trustd },
    certs: { etcd, k8s, k8sAggregator, k8sServiceAccount: { key: serviceAccount }, os },
  });
}

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";

function token(random: RandomSource): string {
  return `${letters(random, 6)}.${letters(random, 16)}`;
}

function letters(random: RandomSource, length: number): string {
  let out = "";
  while (out.length < length) {
    for (const byte of random.bytes(length - out.length)) {
      // 252 is the largest multiple of 36 in a byte: above it some letters would be likelier than others.
      if (byte < 252) out += alphabet.charAt(byte % 36);
    }
  }
  return out;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function urlSafe(text: string): string {
  return text.replaceAll("+", "-").replaceAll("/", "_");
}
