import type { KeyPair } from "@talos-operator/ports";
import { shownAs } from "../shown-as.ts";

/**
 * All keys of one Talos cluster. PEM texts are opaque here: in simulation they are value tokens.
 *
 * Whoever holds this owns the cluster: it prints as `[secrets bundle]`, also in JSON, and so does each of its parts;
 * {@link printSecretsBundle} is the only way out.
 */
export interface SecretsBundle {
  readonly cluster: {
    /** Identity of the cluster for ever; opaque text. */
    readonly id: string;
    /** 32 bytes in standard base64; encrypts discovery data. */
    readonly secret: string;
  };
  readonly secrets: {
    /** Kubernetes bootstrap token, `abcdef.0123456789abcdef`. */
    readonly bootstrapToken: string;
    /** Key of Secrets at rest in etcd; every bundle has exactly one of the two. */
    readonly secretboxEncryptionSecret?: string;
    /** The same for contracts before 1.3. */
    readonly aescbcEncryptionSecret?: string;
  };
  /** Token with which workers join the Talos API. */
  readonly trustdInfo: { readonly token: string };
  readonly certs: {
    readonly etcd: KeyPair;
    readonly k8s: KeyPair;
    readonly k8sAggregator: KeyPair;
    readonly k8sServiceAccount: { readonly key: string };
    readonly os: KeyPair;
  };
  /** Fields of a parsed text that this version does not know, by dotted path (a dot in a key is `\.`); printed again where they were. */
  readonly unknown?: Readonly<Record<string, unknown>>;
}

/** Makes a bundle that does not show its contents to `JSON.stringify`, `console.log` or a logger, nor does any object in it. */
export function createSecretsBundle({ cluster, secrets, trustdInfo, certs, unknown }: SecretsBundle): SecretsBundle {
  const hidden = <T extends object>(part: T): T => shownAs({ ...part }, "[secrets bundle]");
  return hidden({
    cluster: hidden(cluster),
    secrets: hidden(secrets),
    trustdInfo: hidden(trustdInfo),
    certs: hidden({
      etcd: hidden(certs.etcd),
      k8s: hidden(certs.k8s),
      k8sAggregator: hidden(certs.k8sAggregator),
      k8sServiceAccount: hidden(certs.k8sServiceAccount),
      os: hidden(certs.os),
    }),
    ...(unknown === undefined ? {} : { unknown: hidden(unknown) }),
  });
}
