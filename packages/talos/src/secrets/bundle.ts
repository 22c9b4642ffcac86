import type { KeyPair } from "@talos-operator/ports";

/**
 * All keys of one Talos cluster. PEM texts are opaque here: in simulation they are value tokens.
 *
 * Whoever holds this owns the cluster: it prints as `[secrets bundle]`, also in JSON; {@link printSecretsBundle} is the only way out.
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
  /** Fields of a parsed text that this version does not know, by dotted path; printed again where they were. */
  readonly unknown?: Readonly<Record<string, unknown>>;
}

/** Makes a bundle that does not show its contents to `JSON.stringify`, `console.log` or a logger. */
export function createSecretsBundle(parts: SecretsBundle): SecretsBundle {
  const hidden = { enumerable: false, value: (): string => "[secrets bundle]" };
  return Object.defineProperties({ ...parts }, { toJSON: hidden, [Symbol.for("nodejs.util.inspect.custom")]: hidden });
}
