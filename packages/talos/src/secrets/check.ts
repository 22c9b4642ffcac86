import type { KeyObject, X509Certificate } from "node:crypto";
import { readCertificate } from "../pki/certificate.ts";
import { readPrivateKey } from "../pki/private-key.ts";
import type { SecretsBundle } from "./bundle.ts";
import { bundleProblems, partsOfBundle, type PairParts, type PemChecks } from "./parts.ts";

/** Something that is wrong with a bundle. */
export interface BundleProblem {
  /** Where, for example `certs.os`. */
  readonly path: string;
  /** One sentence; it shows no part of a key. */
  readonly detail: string;
  /** `talos`: the genuine tool refuses the bundle with these words. `ours`: it takes the bundle, and a cluster made of it would not work. */
  readonly origin: "talos" | "ours";
}

/** Looks into PEM texts as Talos does: whether they can be read, not whether they fit. */
export const pemChecks: PemChecks = {
  pair: (pair) => {
    const key = readPrivateKey(pair.key, "authority");
    if ("refusal" in key) return key.refusal;
    const certificate = readCertificate(pair.certificate);
    return "refusal" in certificate ? certificate.refusal : undefined;
  },
  serviceAccountKey: (text) => {
    const key = readPrivateKey(text, "serviceAccount");
    return "refusal" in key ? key.refusal : undefined;
  },
};

/**
 * Looks into the certificates and keys of a bundle: what Talos refuses, and beyond it whether each key belongs to its certificate, whether
 * each certificate is an authority of its own and valid at `now` (milliseconds since the epoch), and whether Kubernetes can use the service
 * account key. An empty list means that nothing was found.
 *
 * Only for PEM: the value tokens of a simulation are refused as text that is no PEM.
 */
export function checkSecretsBundle(bundle: SecretsBundle, { now }: { readonly now: number }): readonly BundleProblem[] {
  const refused = bundleProblems(partsOfBundle(bundle), "1.14", pemChecks).map((problem): BundleProblem => {
    const [path = ""] = problem.split(" ", 1);
    return { path, detail: problem, origin: "talos" };
  });
  const { etcd, k8s, k8sAggregator, os } = bundle.certs;
  const authorities = { "certs.etcd": etcd, "certs.k8s": k8s, "certs.k8saggregator": k8sAggregator, "certs.os": os };
  return [
    ...refused,
    ...Object.entries(authorities).flatMap(([path, pair]) => authorityProblems(path, pair, now)),
    ...sharedAuthorities(authorities),
    ...serviceAccountProblems(bundle.certs.k8sServiceAccount.key),
    ...(Buffer.from(bundle.cluster.secret, "base64").length === 32
      ? []
      : [ours("cluster.secret", "cluster.secret is not 32 bytes in base64: machines would not find each other")]),
  ];
}

/**
 * Looks into one authority in PEM: whether its certificate is one of an authority and valid at `now` (milliseconds since the epoch), and whether the key
 * belongs to it. Empty for texts that are no certificate and key: whoever uses them says so.
 *
 * @param path what to call it in the answers
 */
export function checkAuthority(path: string, pair: PairParts, { now }: { readonly now: number }): readonly BundleProblem[] {
  return authorityProblems(path, pair, now);
}

function authorityProblems(path: string, pair: PairParts, now: number): readonly BundleProblem[] {
  const [certificate, key] = [readCertificate(pair.certificate), readPrivateKey(pair.key, "authority")];
  if ("refusal" in certificate || "refusal" in key) return [];
  return [...certificateProblems(path, certificate.certificate, now), ...keyProblems(path, certificate.certificate, key.key)];
}

function certificateProblems(path: string, certificate: X509Certificate, now: number): readonly BundleProblem[] {
  const problems: BundleProblem[] = [];
  if (!certificate.ca) problems.push(ours(path, `${path} is not a certificate authority`));
  if (Date.parse(certificate.validFrom) > now) problems.push(ours(path, `${path} is not valid before ${certificate.validFrom}`));
  if (Date.parse(certificate.validTo) <= now) problems.push(ours(path, `${path} expired on ${certificate.validTo}`));
  return problems;
}

function keyProblems(path: string, certificate: X509Certificate, key: KeyObject): readonly BundleProblem[] {
  return certificate.checkPrivateKey(key) ? [] : [ours(path, `the key of ${path} does not belong to its certificate`)];
}

/** One authority in two places gives every holder of a Kubernetes certificate a way into the Talos API, or the other way round. */
function sharedAuthorities(authorities: Readonly<Record<string, PairParts>>): readonly BundleProblem[] {
  const seen = new Map<string, string>();
  return Object.entries(authorities).flatMap(([path, { certificate }]) => {
    const earlier = seen.get(certificate);
    seen.set(certificate, path);
    return earlier === undefined ? [] : [ours(path, `${path} is the same authority as ${earlier}`)];
  });
}

function serviceAccountProblems(text: string): readonly BundleProblem[] {
  const result = readPrivateKey(text, "serviceAccount");
  if ("refusal" in result || result.key.asymmetricKeyType !== "ed25519") return [];
  return [ours("certs.k8sserviceaccount", "certs.k8sserviceaccount.key is Ed25519, with which Kubernetes signs no tokens")];
}

function ours(path: string, detail: string): BundleProblem {
  return { path, detail, origin: "ours" };
}
