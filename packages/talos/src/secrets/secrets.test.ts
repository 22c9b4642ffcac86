import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { createX509Keys } from "@talos-operator/adapters";
import type { AuthorityRequest, KeyPair, Keys, RandomSource } from "@talos-operator/ports";
import { ConfigError } from "../config/errors.ts";
import { generateMachineConfig } from "../config/generate/generate.ts";
import type { SecretsBundle } from "./bundle.ts";
import { secretsBundleFromMachineConfig } from "./from-config.ts";
import { generateSecretsBundle } from "./generate.ts";
import { parseSecretsBundle } from "./parse.ts";
import { fingerprintSecretsBundle, printSecretsBundle } from "./print.ts";

const text = readFileSync(new URL("../../testdata/golden/genconfig/c1.13-cli/secrets.yaml", import.meta.url), "utf8");
const clock = { now: () => Date.parse("2026-03-01T12:00:00Z") };

/** Keys as simulation has them: values that are no PEM. */
function tokenKeys(): Keys {
  let counter = 0;
  const pair = (what: string): KeyPair => ({ certificate: `token:${what}:${++counter}`, key: `token-key:${what}:${counter}` });
  return {
    createAuthority: (request: AuthorityRequest) => Promise.resolve(pair(`ca ${request.kind} ${request.organization ?? "-"}`)),
    createPrivateKey: (kind) => Promise.resolve(`token-key:${kind}`),
    signCertificate: () => Promise.resolve(pair("leaf")),
    createCertificateRequest: () => Promise.reject(new Error("not asked for")),
    describeCertificateRequest: () => Promise.reject(new Error("not asked for")),
    describeCertificate: () => ({ organizations: [], commonName: undefined, notBefore: 0, notAfter: 0, spki: "", serial: "" }),
    verifyCertificate: () => true,
    isPair: () => true,
  };
}

function seeded(seed: number): RandomSource {
  let state = seed;
  const next = (): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
  return { bytes: (length) => Uint8Array.from({ length }, () => next() >> 16), fraction: () => next() / 2_147_483_648 };
}

function generate(contract: string, seed = 1): Promise<SecretsBundle> {
  return generateSecretsBundle({ contract, clock, random: seeded(seed), keys: tokenKeys() });
}

test("the same seed gives the same bundle, another seed another", async () => {
  assert.equal(printSecretsBundle(await generate("1.13")), printSecretsBundle(await generate("1.13")));
  assert.notEqual(fingerprintSecretsBundle(await generate("1.13")), fingerprintSecretsBundle(await generate("1.13", 2)));
});

test("tokens that are no PEM go through printing and parsing unchanged", async () => {
  const bundle = await generate("1.14");
  assert.deepEqual({ ...parseSecretsBundle(printSecretsBundle(bundle)) }, { ...bundle });
  assert.equal(bundle.certs.k8sAggregator.certificate, "token:ca p256 -:3");
});

test("the kind of the service account key and of the encryption secret follows the contract", async () => {
  assert.equal((await generate("1.6")).certs.k8sServiceAccount.key, "token-key:p256");
  assert.equal((await generate("1.7")).certs.k8sServiceAccount.key, "token-key:rsa4096");
  assert.equal((await generate("1.2")).secrets.secretboxEncryptionSecret, undefined);
  assert.ok((await generate("1.3")).secrets.secretboxEncryptionSecret !== undefined);
});

test("the cluster's id is URL-safe up to 1.13 and plain base64 from 1.14 on", async () => {
  const ids = async (contract: string): Promise<string> =>
    (await Promise.all(Array.from({ length: 40 }, (_, seed) => generate(contract, seed)))).map(({ cluster }) => cluster.id).join("");
  assert.match(await ids("1.13"), /^[\w=-]+$/);
  assert.match(await ids("1.14"), /^[A-Za-z0-9+/=]+$/);
  assert.match(await ids("1.14"), /[+/]/);
});

test("bytes that would make some letters likelier are drawn again", async () => {
  let drawn = 0;
  const random: RandomSource = {
    bytes: (length) => Uint8Array.from({ length }, () => (drawn++ % 2 === 0 ? 252 + (drawn % 4) : 251)),
    fraction: () => 0,
  };
  const { trustdInfo } = await generateSecretsBundle({ contract: "1.13", clock, random, keys: tokenKeys() });
  assert.equal(trustdInfo.token, "zzzzzz.zzzzzzzzzzzzzzzz");
});

test("the fingerprint does not depend on the layout of the text or on unknown fields", () => {
  const other = text.replace(/^certs:/m, "# a remark\ncerts:").replace("    id:", "    newer: 1\n    id:");
  assert.equal(fingerprintSecretsBundle(parseSecretsBundle(other)), fingerprintSecretsBundle(parseSecretsBundle(text)));
  assert.match(fingerprintSecretsBundle(parseSecretsBundle(text)), /^sha256:[0-9a-f]{64}$/);
});

test("unknown fields are printed again in their sections", () => {
  const printed = printSecretsBundle(
    parseSecretsBundle(`${text}future:\n    a: [1, "2"]\n`.replace("    token:", "    rotated: true\n    token:")),
  );
  assert.match(printed, /trustdinfo:\n {4}token: .*\n {4}rotated: true\n/);
  assert.match(printed, /future:\n {4}a:\n {8}- 1\n {8}- "2"\n$/);
});

test("a bundle shows nothing of itself, and neither does a part of it", () => {
  const bundle = parseSecretsBundle(text);
  for (const part of [bundle, bundle.cluster, bundle.secrets, bundle.trustdInfo, bundle.certs, bundle.certs.os]) {
    assert.equal(JSON.stringify({ part }), '{"part":"[secrets bundle]"}');
    assert.equal(inspect({ part }), "{ part: [secrets bundle] }");
  }
});

test("a key that Talos hid stays hidden when it is printed again", () => {
  const hidden = text.replace(/(os:\n.*\n {8}key: ).*/, "$1'******'");
  const bundle = parseSecretsBundle(hidden);
  assert.equal(bundle.certs.os.key, "******");
  assert.equal(printSecretsBundle(bundle), hidden);
});

test("keys with dots in them are kept where they were", () => {
  const bundle = parseSecretsBundle(`${text}example.org/note: x\n`);
  assert.match(printSecretsBundle(bundle), /^example\.org\/note: x$/m);
});

describe("the secrets of a control plane can be rebuilt from its config", () => {
  for (let minor = 5; minor <= 15; minor++) {
    const contract = `1.${minor}`;
    test(`of contract ${contract}`, async () => {
      const bundle = await generate(contract);
      const config = generateMachineConfig({
        role: "controlplane",
        clusterName: "alpha",
        endpoint: "https://192.0.2.10:6443",
        contract,
        kubernetesVersion: "1.30.1",
        secrets: bundle,
      });
      assert.equal(fingerprintSecretsBundle(secretsBundleFromMachineConfig(config)), fingerprintSecretsBundle(bundle));
    });
  }
});

test("a worker's config names all that it lacks", async () => {
  const config = generateMachineConfig({
    role: "worker",
    clusterName: "alpha",
    endpoint: "https://192.0.2.10:6443",
    contract: "1.13",
    kubernetesVersion: "1.36.1",
    secrets: await generate("1.13"),
  });
  assert.throws(
    () => secretsBundleFromMachineConfig(config),
    (error: unknown) => error instanceof ConfigError && error.code === "INVALID_BUNDLE" && error.detail.startsWith("6 errors occurred:\n"),
  );
});

test("generated keys belong to their certificates", async () => {
  const keys = createX509Keys();
  const bundle = await generateSecretsBundle({ contract: "1.13", clock, random: seeded(3), keys });
  for (const pair of [bundle.certs.etcd, bundle.certs.k8s, bundle.certs.k8sAggregator, bundle.certs.os]) {
    assert.ok(keys.isPair(pair));
    assert.ok(keys.verifyCertificate(pair.certificate, pair.certificate, clock.now() + 1000));
  }
});

describe("bundles that are refused", () => {
  const cases: readonly (readonly [name: string, change: (text: string) => string, detail: string, code?: string])[] = [
    ["without a section", (all) => all.replace(/^trustdinfo:\n.*\n/m, ""), "trustdinfo is required"],
    ["without an id", (all) => all.replace(/^ {4}id: .*\n/m, ""), "cluster.id is required"],
    ["with both encryption secrets", (all) => all.replace("    secretbox", "    aescbcencryptionsecret: x\n    secretbox"), "only one of"],
    ["without any", (all) => all.replace(/^ {4}secretbox.*\n/m, ""), "one of"],
    ["with an empty key", (all) => all.replace(/^ {8}key: .*$/m, "        key: ''"), "certs.etcd is invalid: failed to parse PEM block"],
    ["with a key that is not base64", (all) => all.replace(/^ {8}key: .*$/m, "        key: '***'"), "illegal base64 data", "INVALID_VALUE"],
    ["with a text for a section", (all) => all.replace(/^cluster:\n.*\n.*\n/m, "cluster: x\n"), "into secrets.Cluster", "WRONG_TYPE"],
    ["that are a list", () => "[]", "cannot construct !!seq into secrets.Bundle", "WRONG_TYPE"],
    ["that are empty", () => "", "EOF", "NOT_A_DOCUMENT"],
  ];
  for (const [name, change, detail, code = "INVALID_BUNDLE"] of cases) {
    test(name, () => {
      assert.throws(
        () => parseSecretsBundle(change(text)),
        (error: unknown) => error instanceof ConfigError && error.code === code && error.detail.includes(detail),
      );
    });
  }
});
