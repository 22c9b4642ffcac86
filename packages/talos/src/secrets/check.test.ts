import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createX509Keys, systemRandom } from "@talos-operator/adapters";
import { ConfigError } from "../config/errors.ts";
import type { SecretsBundle } from "./bundle.ts";
import { checkSecretsBundle } from "./check.ts";
import { secretsBundleFromKubernetesPki } from "./from-kubernetes-pki.ts";
import { generateSecretsBundle } from "./generate.ts";

const keys = createX509Keys();
const start = Date.parse("2026-03-01T12:00:00Z");
const now = start + 3_600_000;
const clock = { now: () => start };
const ports = { contract: "1.6", clock, random: systemRandom, keys };
let bundle: SecretsBundle;
let leaf: SecretsBundle["certs"]["os"];

before(async () => {
  bundle = await generateSecretsBundle(ports);
  leaf = await keys.signCertificate(bundle.certs.os, { usage: "client", notBefore: start, lifetimeMs: 86_400_000 });
});

test("a bundle that was just made has no fault", () => {
  assert.deepEqual(checkSecretsBundle(bundle, { now }), []);
});

describe("faults that are found", () => {
  const cases: readonly (readonly [name: string, change: (certs: SecretsBundle["certs"]) => object, detail: string, at?: number])[] = [
    ["a key that is no PEM", ({ os }) => ({ os: { ...os, key: "******" } }), "certs.os is invalid: failed to parse PEM block"],
    [
      "a certificate for a key",
      ({ os }) => ({ os: { ...os, key: os.certificate } }),
      'certs.os is invalid: unsupported key type: "CERTIFICATE"',
    ],
    [
      "a key for a certificate",
      ({ os }) => ({ os: { ...os, certificate: os.key } }),
      "certs.os is invalid: failed to parse certificate: x509: malformed tbs certificate",
    ],
    [
      "a certificate that is cut off",
      ({ os }) => ({ os: { ...os, certificate: os.certificate.replace(/\n[^-]*\n/, "\nMIIB\n") } }),
      "certs.os is invalid: failed to parse certificate: x509: malformed certificate",
    ],
    [
      "a key of another certificate",
      ({ etcd, k8s }) => ({ k8s: { ...k8s, key: etcd.key } }),
      "the key of certs.k8s does not belong to its certificate",
    ],
    ["a leaf", () => ({ os: leaf }), "certs.os is not a certificate authority"],
    ["an authority in two places", ({ k8s }) => ({ etcd: k8s }), "certs.k8s is the same authority as certs.etcd"],
    ["an authority that is not valid yet", () => ({}), "certs.os is not valid before Mar  1 12:00:00 2026 GMT", start - 1000],
    [
      "an authority that is not valid any more",
      () => ({}),
      "certs.os expired on Feb 27 12:00:00 2036 GMT",
      Date.parse("2036-02-27T12:00:00Z"),
    ],
    [
      "a service account key with which Kubernetes signs nothing",
      ({ os }) => ({ k8sServiceAccount: { key: os.key } }),
      "certs.k8sserviceaccount.key is Ed25519, with which Kubernetes signs no tokens",
    ],
  ];
  for (const [name, change, detail, at = now] of cases) {
    test(name, () => {
      const problems = checkSecretsBundle({ ...bundle, certs: { ...bundle.certs, ...change(bundle.certs) } }, { now: at });
      assert.ok(
        problems.some((problem) => problem.detail === detail),
        JSON.stringify(problems),
      );
      assert.ok(problems.every((problem) => (problem.origin === "talos") === problem.detail.includes("is invalid")));
    });
  }

  test("a discovery key of another length", () => {
    const [problem] = checkSecretsBundle({ ...bundle, cluster: { ...bundle.cluster, secret: "c2hvcnQ=" } }, { now });
    assert.equal(problem?.path, "cluster.secret");
  });
});

describe("a cluster that kubeadm made", () => {
  const files = (): Record<string, string> => ({
    "ca.crt": bundle.certs.k8s.certificate,
    "ca.key": bundle.certs.k8s.key,
    "etcd/ca.crt": bundle.certs.etcd.certificate,
    "etcd/ca.key": bundle.certs.etcd.key,
    "front-proxy-ca.crt": bundle.certs.k8sAggregator.certificate,
    "front-proxy-ca.key": bundle.certs.k8sAggregator.key,
    "sa.key": bundle.certs.k8sServiceAccount.key,
  });

  test("keeps its authorities and its token, and gets a Talos authority", async () => {
    const taken = await secretsBundleFromKubernetesPki({ ...ports, files: files(), bootstrapToken: "abcdef.0123456789abcdef" });
    const { os, ...kubernetes } = taken.certs;
    assert.deepEqual({ ...kubernetes, os: bundle.certs.os }, { ...bundle.certs });
    assert.notEqual(os.certificate, bundle.certs.os.certificate);
    assert.equal(taken.secrets.bootstrapToken, "abcdef.0123456789abcdef");
    assert.deepEqual(checkSecretsBundle(taken, { now }), []);
  });

  test("without a file, or with one that is something else, is refused", async () => {
    const refusal = (changed: Record<string, string>): Promise<string> =>
      secretsBundleFromKubernetesPki({ ...ports, files: changed }).then(
        () => "taken",
        (error: unknown) => (error instanceof ConfigError && error.code === "INVALID_BUNDLE" ? error.detail : String(error)),
      );
    const { "etcd/ca.key": _, ...without } = files();
    assert.equal(await refusal(without), "open /etc/kubernetes/pki/etcd/ca.key: no such file or directory");
    assert.equal(await refusal({ ...files(), "sa.key": "x" }), "failed to parse PEM block");
    assert.match(await refusal({ ...files(), "ca.crt": bundle.certs.k8s.key }), /^failed to parse certificate/);
  });
});
