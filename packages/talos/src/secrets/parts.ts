import type { Generation } from "../config/schema/notation.ts";
import { ConfigError } from "../config/errors.ts";
import { createSecretsBundle, type SecretsBundle } from "./bundle.ts";

/** A certificate and key as a text gives them, either of which may be empty. */
export interface PairParts {
  readonly certificate: string;
  readonly key: string;
}

/** What a text says of a bundle before anyone asks whether it is whole; texts that are absent are empty. */
export interface BundleParts {
  readonly cluster?: { readonly id: string; readonly secret: string } | undefined;
  readonly secrets?: { readonly bootstrapToken: string; readonly secretbox: string; readonly aescbc: string } | undefined;
  readonly trustdInfo?: { readonly token: string } | undefined;
  readonly certs?: CertificateParts | undefined;
  readonly unknown?: Readonly<Record<string, unknown>> | undefined;
}

export interface CertificateParts {
  readonly etcd?: PairParts | undefined;
  readonly k8s?: PairParts | undefined;
  readonly k8sAggregator?: PairParts | undefined;
  readonly k8sServiceAccount?: { readonly key: string } | undefined;
  readonly os?: PairParts | undefined;
}

/** Says what is wrong with the PEM texts of a bundle; `undefined` when nothing is. */
export interface PemChecks {
  readonly pair: (pair: PairParts) => string | undefined;
  readonly serviceAccountKey: (key: string) => string | undefined;
}

/** Any text will do, for bundles whose keys may be value tokens. */
const opaqueChecks: PemChecks = {
  pair: ({ certificate, key }) => (certificate === "" || key === "" ? "failed to parse PEM block" : undefined),
  serviceAccountKey: (key) => (key === "" ? "failed to parse PEM block" : undefined),
};

/** All that is missing or wrong, in the words and the order of that generation of Talos. */
export function bundleProblems(parts: BundleParts, generation: Generation, checks: PemChecks): readonly string[] {
  const { cluster, secrets, trustdInfo, certs } = parts;
  const problems: (string | false)[] = [];
  if (cluster === undefined) problems.push("cluster is required");
  else problems.push(cluster.id === "" && "cluster.id is required", cluster.secret === "" && "cluster.secret is required");
  if (secrets === undefined) problems.push("secrets is required");
  else {
    const names = "[secrets.secretboxencryptionsecret, secrets.aescbcencryptionsecret]";
    problems.push(
      secrets.bootstrapToken === "" && "secrets.bootstraptoken is required",
      secrets.aescbc === "" && secrets.secretbox === "" && `one of ${names} is required`,
      secrets.aescbc !== "" && secrets.secretbox !== "" && `only one of ${names} is allowed`,
    );
  }
  if (trustdInfo === undefined) problems.push("trustdinfo is required");
  else problems.push(trustdInfo.token === "" && "trustdinfo.token is required");
  if (certs === undefined) problems.push("certs is required");
  else problems.push(...certificateProblems(certs, generation, checks));
  return problems.filter((problem) => problem !== false);
}

function certificateProblems(certs: CertificateParts, generation: Generation, checks: PemChecks): readonly (string | false)[] {
  const pair = (name: string, value: PairParts | undefined): string | false => {
    const refusal = value === undefined ? undefined : checks.pair(value);
    return value === undefined ? `certs.${name} is required` : refusal !== undefined && `certs.${name} is invalid: ${refusal}`;
  };
  const { k8sServiceAccount } = certs;
  const refusal = k8sServiceAccount === undefined ? undefined : checks.serviceAccountKey(k8sServiceAccount.key);
  const serviceAccount =
    k8sServiceAccount === undefined
      ? "certs.k8sserviceaccount is required"
      : refusal !== undefined && `certs.k8sserviceaccount.key is invalid: ${refusal}`;
  const os = pair("os", certs.os);
  return [
    pair("etcd", certs.etcd),
    pair("k8s", certs.k8s),
    pair("k8saggregator", certs.k8sAggregator),
    ...(generation === "1.13" ? [os, serviceAccount] : [serviceAccount, os]),
  ];
}

/** The list of problems as Go's multi-error prints it. */
export function listProblems(problems: readonly string[]): string {
  const count = problems.length === 1 ? "1 error" : `${problems.length} errors`;
  return `${count} occurred:\n${problems.map((problem) => `\t* ${problem}\n`).join("")}\n`;
}

/**
 * A bundle from its parts.
 *
 * @throws ConfigError `INVALID_BUNDLE` with the list of all that is missing
 */
export function bundleOfParts(parts: BundleParts): SecretsBundle {
  const problems = bundleProblems(parts, "1.14", opaqueChecks);
  const { cluster, secrets, trustdInfo, certs, unknown } = parts;
  const { etcd, k8s, k8sAggregator, k8sServiceAccount, os } = certs ?? {};
  if (
    problems.length > 0 ||
    cluster === undefined ||
    secrets === undefined ||
    trustdInfo === undefined ||
    etcd === undefined ||
    k8s === undefined ||
    k8sAggregator === undefined ||
    k8sServiceAccount === undefined ||
    os === undefined
  ) {
    const [first = ""] = problems;
    throw new ConfigError("INVALID_BUNDLE", listProblems(problems), { path: first.split(" ", 1)[0]?.replace(/^(?:one|only)$/, "secrets") });
  }
  return createSecretsBundle({
    cluster,
    secrets: {
      bootstrapToken: secrets.bootstrapToken,
      ...(secrets.secretbox === "" ? {} : { secretboxEncryptionSecret: secrets.secretbox }),
      ...(secrets.aescbc === "" ? {} : { aescbcEncryptionSecret: secrets.aescbc }),
    },
    trustdInfo,
    certs: { etcd, k8s, k8sAggregator, k8sServiceAccount, os },
    ...(unknown === undefined || Object.keys(unknown).length === 0 ? {} : { unknown }),
  });
}

/** The parts of a bundle. */
export function partsOfBundle({ cluster, secrets, trustdInfo, certs }: SecretsBundle): BundleParts {
  return {
    cluster,
    secrets: {
      bootstrapToken: secrets.bootstrapToken,
      secretbox: secrets.secretboxEncryptionSecret ?? "",
      aescbc: secrets.aescbcEncryptionSecret ?? "",
    },
    trustdInfo,
    certs,
  };
}
