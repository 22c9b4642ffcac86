import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { parseSecretsBundle } from "../../secrets/parse.ts";
import { describeMachineConfig } from "../describe.ts";
import { printDocuments } from "../document/print.ts";
import { ConfigError } from "../errors.ts";
import { generationOf, loadConfig } from "../patch/patch.ts";
import { parseEndpoint } from "./check-input.ts";
import { generateMachineConfig } from "./generate.ts";
import type { MachineConfigInput } from "./input.ts";

const secrets = parseSecretsBundle(
  readFileSync(new URL("../../../testdata/golden/genconfig/c1.13-cli/secrets.yaml", import.meta.url), "utf8"),
);
const base: MachineConfigInput = {
  role: "controlplane",
  clusterName: "alpha",
  endpoint: "https://192.0.2.10:6443",
  contract: "1.13",
  kubernetesVersion: "1.36.1",
  secrets,
  install: { disk: "/dev/sda", image: "ghcr.io/siderolabs/installer:v1.13.9", wipe: true },
};
const contracts = Array.from({ length: 16 }, (_, minor) => `1.${minor}`);

for (const contract of contracts) {
  for (const role of ["controlplane", "worker"] as const) {
    test(`a ${role} of contract ${contract} loads strictly, prints the same and says what went in`, () => {
      const text = generateMachineConfig({
        ...base,
        role,
        contract,
        podSubnets: ["10.1.0.0/16", "fd00:1::/64"],
        serviceSubnets: ["10.2.0.0/16"],
        cni: { name: "flannel", flannel: { extraArgs: ["--iface=eth0"] } },
        sysctls: { "a.b9": "1", "a.b10": "yes" },
        registryMirrors: { "docker.io": ["https://m"] },
        timeSync: false,
      });
      const generation = generationOf(contract);
      assert.equal(printDocuments(loadConfig(text, generation), generation), text);
      const facts = describeMachineConfig(text);
      assert.deepEqual(
        [
          facts.machineType,
          facts.clusterId,
          facts.endpoint,
          facts.podSubnets,
          facts.serviceSubnets,
          facts.kubernetesVersion,
          facts.install.disk,
          facts.install.wipe,
        ],
        [role, secrets.cluster.id, base.endpoint, ["10.1.0.0/16", "fd00:1::/64"], ["10.2.0.0/16"], "1.36.1", "/dev/sda", true],
      );
      assert.equal(facts.osCa?.certificate, secrets.certs.os.certificate);
      assert.equal(facts.osCa?.key, role === "worker" ? undefined : secrets.certs.os.key);
      assert.equal(facts.kubernetesCa?.certificate, secrets.certs.k8s.certificate);
      assert.equal(facts.kubernetesCa?.key, role === "worker" ? undefined : secrets.certs.k8s.key);
      assert.equal(facts.machineToken, secrets.trustdInfo.token);
      assert.equal(facts.bootstrapToken, secrets.secrets.bootstrapToken);
    });
  }
}

test("a worker's config holds no private key", () => {
  for (const contract of contracts) {
    const text = generateMachineConfig({ ...base, role: "worker", contract });
    for (const key of [
      secrets.certs.os.key,
      secrets.certs.k8s.key,
      secrets.certs.etcd.key,
      secrets.certs.k8sAggregator.key,
      secrets.certs.k8sServiceAccount.key,
    ]) {
      assert.ok(!text.includes(Buffer.from(key).toString("base64")));
      assert.ok(!text.includes(key.split("\n")[1] as string));
    }
  }
});

test("a container has no install section and forwards cluster DNS", () => {
  for (const contract of ["1.7", "1.12", "1.13", "1.14"]) {
    const text = generateMachineConfig({ ...base, contract, platform: "container" });
    assert.doesNotMatch(text, /install/i);
    assert.match(text, /hostDNS:\n +enabled: true\n +forwardKubeDNSToHost: true\n/);
  }
});

test("a site without time gets none, as a field or as a document", () => {
  assert.match(generateMachineConfig({ ...base, contract: "1.11", timeSync: false }), /\n {4}time:\n {8}disabled: true\n/);
  assert.match(generateMachineConfig({ ...base, contract: "1.12", timeSync: false }), /kind: TimeSyncConfig\nenabled: false\n/);
});

test("an AES-CBC secret is left out as Talos does, or kept where a control plane has to read with it", () => {
  const older = { ...secrets, secrets: { bootstrapToken: "abcdef.0123456789abcdef", aescbcEncryptionSecret: "b2xkIHNlY3JldA==" } };
  const of = (contract: string, keepAesCbcSecret: boolean): string =>
    generateMachineConfig({ ...base, contract, secrets: older, keepAesCbcSecret });
  const inV1alpha1 = /^ {4}aescbcEncryptionSecret: b2xkIHNlY3JldA==$/m;
  assert.match(of("1.2", false), inV1alpha1);
  assert.doesNotMatch(of("1.13", false), /b2xkIHNlY3JldA==/);
  assert.match(of("1.13", true), inV1alpha1);
  assert.match(of("1.14", false), /- secretbox:\n +keys:\n +- name: key1\n +secret: b2xkIHNlY3JldA==\n/);
  assert.match(of("1.14", true), /- aescbc:\n +keys:\n +- name: key1\n +secret: b2xkIHNlY3JldA==\n/);
});

describe("what encrypts Secrets in etcd is called alike under every contract, so that control planes of several read what the others wrote", () => {
  // What machines before 1.14 make of the two fields: siderolabs/talos `templates/kube-system-encryption-config-template.yaml`.
  const templated = { secretbox: "key2", aescbc: "key1" } as const;
  const [box, cbc] = ["Ym94IHNlY3JldA==", "b2xkIHNlY3JldA=="];
  for (const [what, keys, expected] of [
    ["a secretbox secret", { secretboxEncryptionSecret: box }, [["secretbox", templated.secretbox, box]]],
    ["an AES-CBC secret", { aescbcEncryptionSecret: cbc }, [["aescbc", templated.aescbc, cbc]]],
    [
      "both, as of a cluster from before 1.3 that got a secretbox secret later",
      { secretboxEncryptionSecret: box, aescbcEncryptionSecret: cbc },
      [
        ["secretbox", templated.secretbox, box],
        ["aescbc", templated.aescbc, cbc],
      ],
    ],
  ] as const)
    test(what, () => {
      const bundle = { ...secrets, secrets: { bootstrapToken: "abcdef.0123456789abcdef", ...keys } };
      const of = (contract: string): string => generateMachineConfig({ ...base, contract, secrets: bundle, keepAesCbcSecret: true });
      const documents = of("1.14").matchAll(/- (secretbox|aescbc):\n +keys:\n +- name: (\w+)\n +secret: (\S+)\n/g);
      assert.deepEqual(
        [...documents].map(([, provider, name, secret]) => [provider, name, secret]),
        expected,
      );
      for (const [provider, , secret] of expected)
        assert.match(of("1.13"), new RegExp(`^ {4}${provider}EncryptionSecret: ${secret}$`, "m"));
    });
});

test("facts show nothing of themselves", () => {
  const facts = describeMachineConfig(generateMachineConfig(base));
  assert.equal(JSON.stringify({ facts }), '{"facts":"[machine config facts]"}');
  assert.equal(inspect({ facts }), "{ facts: [machine config facts] }");
});

test("facts of a config that says nothing are absent", () => {
  const facts = describeMachineConfig("apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: n1\n");
  assert.deepEqual(
    [facts.isComplete, facts.hostname, facts.machineType, facts.podSubnets, facts.apiServerPort],
    [false, "n1", undefined, [], 6443],
  );
});

test("a 1.14 control plane is schedulable when its node document has no taint", () => {
  const of = (allow: boolean): boolean =>
    describeMachineConfig(generateMachineConfig({ ...base, contract: "1.14", allowSchedulingOnControlPlanes: allow }))
      .allowSchedulingOnControlPlanes;
  assert.deepEqual([of(true), of(false)], [true, false]);
});

test("an endpoint is any URL that Talos reads, and what clients can use where somebody asks for that", () => {
  for (const endpoint of ["http://a:6443", "https://user:pass@host", "https://host/x", "https://host?x=1", "https://host#x", "192.0.2.1"]) {
    assert.ok(generateMachineConfig({ ...base, endpoint }).includes(`endpoint: ${endpoint}\n`));
    assert.throws(() => parseEndpoint(endpoint), { code: "INVALID_INPUT", path: "endpoint" });
  }
  for (const endpoint of ["https://host:0", "https://host:70000", "https://", ""])
    assert.throws(() => parseEndpoint(endpoint), { code: "INVALID_INPUT", path: "endpoint" });
  assert.deepEqual(parseEndpoint("https://[2001:db8::1]:6443"), { url: "https://[2001:db8::1]:6443", host: "2001:db8::1", isIpv6: true });
});

describe("input that is refused", () => {
  const cases: readonly (readonly [string, Partial<MachineConfigInput>, string])[] = [
    ["a bare IPv6 address", { endpoint: "2001:db8::1" }, "endpoint"],
    ["an endpoint with a blank", { endpoint: "https://a b" }, "endpoint"],
    ["an endpoint without a scheme", { endpoint: "192.0.2.1:6443" }, "endpoint"],
    ["a cluster without a name", { clusterName: "" }, "clusterName"],
    ["manifests for flannel", { cni: { name: "flannel", urls: ["https://x"] } }, "cni.urls"],
    ["no Kubernetes version where one is needed", { contract: "1.14", kubernetesVersion: "" }, "kubernetesVersion"],
    ["v1alpha1 network settings for 1.14", { contract: "1.14", network: {} }, "network"],
  ];
  for (const [name, change, path] of cases) {
    test(name, () => {
      assert.throws(
        () => generateMachineConfig({ ...base, ...change }),
        (error: unknown) => error instanceof ConfigError && error.code === "INVALID_INPUT" && error.path === path,
      );
    });
  }
});
