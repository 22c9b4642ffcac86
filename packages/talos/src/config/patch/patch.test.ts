import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { ConfigError, type ConfigErrorCode } from "../errors.ts";
import { printDocuments } from "../document/print.ts";
import { findForbiddenPatchPaths } from "./forbidden-paths.ts";
import { loadConfig, patchMachineConfig } from "./patch.ts";

const config = `machine:
  type: controlplane
  token: abcdef.0123456789abcdef
  sysctls: {a: "1"}
  network:
    interfaces:
      - interface: eth0
        mtu: 1400
---
apiVersion: v1alpha1
kind: HostnameConfig
auto: stable
`;

function refusal(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "nothing was refused" });
}

test("without patches a config comes back as it was, comments included", () => {
  assert.equal(patchMachineConfig(`# mine\n${config}`, []), `# mine\n${config}`);
});

test("a patch of several documents merges each over its own and appends the rest", () => {
  const patch =
    "machine:\n  network:\n    interfaces:\n      - interface: eth0\n        dhcp: true\n---\napiVersion: v1alpha1\nkind: HostnameConfig\nauto: off\nhostname: n1\n---\napiVersion: v1alpha1\nkind: KmsgLogConfig\nname: a\nurl: tcp://10.0.0.1:514\n";
  const out = patchMachineConfig(config, [patch], { contract: "1.13" });
  assert.match(out, /- interface: eth0\n {14}mtu: 1400\n {14}dhcp: true\n/);
  assert.match(out, /kind: HostnameConfig\nauto: "off"\nhostname: n1\n---\napiVersion: v1alpha1\nkind: KmsgLogConfig\n/);
});

describe("refusals say where", () => {
  const cases: readonly {
    name: string;
    patch: string;
    code: ConfigErrorCode;
    document?: string;
    path?: string;
    line?: number;
    column?: number;
  }[] = [
    {
      name: "a key that does not exist",
      patch: "machine:\n  network:\n    interfaces:\n      - adresses: []\n",
      code: "UNKNOWN_FIELD",
      document: "/v1alpha1/",
      path: "machine.network.interfaces[0].adresses",
      line: 4,
      column: 9,
    },
    {
      name: "a value of another type",
      patch: "machine:\n  certSANs: x\n",
      code: "WRONG_TYPE",
      path: "machine.certSANs",
      line: 2,
      column: 13,
    },
    {
      name: "a number out of range",
      patch: "machine:\n  network:\n    interfaces:\n      - vlans:\n          - vlanId: 70000\n",
      code: "WRONG_TYPE",
      path: "machine.network.interfaces[0].vlans[0].vlanId",
      line: 5,
    },
    {
      name: "an address that is none",
      patch: "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\naddresses:\n  - address: 10.0.0.300/24\n",
      code: "INVALID_VALUE",
      document: "v1alpha1/LinkConfig/eth0",
      path: "addresses[0].address",
      line: 5,
    },
    { name: "an unknown kind", patch: "apiVersion: v1alpha1\nkind: Nope\n", code: "UNKNOWN_KIND", document: "v1alpha1/Nope/", line: 1 },
    { name: "a missing kind", patch: "apiVersion: v2\nname: x\n", code: "MISSING_KIND", line: 1 },
    { name: "a scalar", patch: "hello\n", code: "NOT_A_DOCUMENT", line: 1 },
    {
      name: "an alias bomb",
      patch: `machine:\n  a: &a [${"x,".repeat(5000)}]\n  b: [*a]\n  c: [*a]\n  d: [*a]\n`,
      code: "YAML_ALIAS",
      line: 4,
    },
    { name: "a key twice", patch: "machine:\n  token: a\n  token: b\n", code: "DUPLICATE_KEY", line: 3 },
    {
      name: "deleting what is not there",
      patch: "machine:\n  sysctls:\n    zzz:\n      $patch: delete\n",
      code: "PATCH_DELETE",
      path: "machine.sysctls.zzz",
      document: "/v1alpha1/",
    },
    { name: "operations on several documents", patch: '[{"op":"remove","path":"/machine/token"}]', code: "JSON_PATCH_MULTI_DOCUMENT" },
    { name: "operations that are not JSON", patch: '[{"op":', code: "JSON_PATCH" },
    { name: "a patch of more than 256 KiB", patch: `machine:\n  token: ${"x".repeat(256 * 1024)}\n`, code: "YAML_LIMIT" },
    { name: "an empty patch on several documents", patch: "# nothing\n", code: "JSON_PATCH_MULTI_DOCUMENT" },
  ];
  for (const { name, patch, ...want } of cases) {
    test(name, () => {
      const error = refusal(() => patchMachineConfig(config, [patch]));
      const got = Object.fromEntries(Object.keys(want).map((key) => [key, error[key as keyof ConfigError]]));
      assert.deepEqual(got, want);
      assert.ok(error.message.startsWith(`${error.code}: `));
    });
  }
});

test("a refusal of a value shows ten characters of it at most", () => {
  const error = refusal(() => patchMachineConfig(config, ["machine:\n  ca: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t\n"]));
  assert.ok(!error.message.includes("LS0tLS1CRUdJ"), error.message);
});

test("patches together may be a mebibyte", () => {
  const patch = `machine:\n  env: {a: ${"x".repeat(220 * 1024)}}\n`;
  assert.equal(
    refusal(() =>
      patchMachineConfig(
        config,
        Array.from({ length: 5 }, () => patch),
      ),
    ).code,
    "YAML_LIMIT",
  );
});

test("a size that selects the disk is given where there is none, and never changed, as in Talos", () => {
  const patch = (size: string): string => `machine:\n  install:\n    diskSelector: {size: '${size}'}\n`;
  const selected = patchMachineConfig("machine:\n  install:\n    diskSelector: {type: ssd}\n", [patch("<= 1TB")]);
  assert.match(selected, /size: <= 1TB\n {12}type: ssd/);
  const error = refusal(() => patchMachineConfig(selected, [patch(">= 1TB")]));
  assert.equal(error.code, "PATCH_MERGE");
  assert.match(error.detail, /merge not possible, left <= 1TB is not settable/);
});

test("a kind of Talos 1.14 is unknown to 1.13", () => {
  const patch = "apiVersion: v1alpha1\nkind: SysctlConfig\nparams: {a: '1'}\n";
  assert.equal(refusal(() => patchMachineConfig(config, [patch], { contract: "1.13" })).code, "UNKNOWN_KIND");
  assert.match(patchMachineConfig(config, [patch], { contract: "1.14" }), /kind: SysctlConfig/);
});

test("two links of one name are refused", () => {
  const patch = "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n---\napiVersion: v1alpha1\nkind: DummyLinkConfig\nname: eth0\n";
  assert.equal(
    refusal(() => patchMachineConfig(config, [patch])).detail,
    "conflicting documents: LinkConfig/eth0 and DummyLinkConfig/eth0",
  );
});

test("values that look like numbers reach the node as they were written", () => {
  const out = patchMachineConfig(
    "machine: {type: worker}\n",
    ["machine:\n  sysctls: {a: no, b: 0o17, c: 1e3, d: 2026-01-01, e: 12:30:45, f: 010}\n"],
    { contract: "1.13" },
  );
  assert.match(out, /a: "no"\n +b: "0o17"\n +c: "1e3"\n +d: "2026-01-01"\n +e: "12:30:45"\n +f: "010"\n/);
});

test("old booleans are texts in operations, and booleans in the config that they change", () => {
  const operations = "- op: add\n  path: /machine/sysctls/b\n  value: [yes, off, true]\n";
  const out = patchMachineConfig("machine:\n  sysctls: {a: on}\n", [operations], { contract: "1.13" });
  assert.equal(out, 'machine:\n  sysctls:\n    a: true\n    b:\n    - "yes"\n    - "off"\n    - true\n');
});

/** Fragments of a config that are well-formed. */
const fragment = fc.record(
  {
    certSANs: fc.array(fc.constantFrom("a", "b", "10.0.0.1"), { maxLength: 3 }),
    sysctls: fc.dictionary(fc.constantFrom("a", "b", "c10", "c9"), fc.constantFrom("", "1", "yes")),
    install: fc.record({ disk: fc.constantFrom("", "/dev/sda"), wipe: fc.boolean() }, { requiredKeys: [] }),
    kubelet: fc.record(
      { image: fc.string(), nodeIP: fc.record({ validSubnets: fc.array(fc.constantFrom("10.0.0.0/8"), { maxLength: 2 }) }) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

test("a patched config loads, and printing it again changes nothing", () => {
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 3 }), (fragments) => {
      const patched = patchMachineConfig(config, [...fragments.map((machine) => JSON.stringify({ machine })), "debug: true\n"]);
      assert.equal(printDocuments(loadConfig(patched, "1.14"), "1.14"), patched);
    }),
    { numRuns: 200, seed: 4 },
  );
});

describe("what a person's patch must not touch", () => {
  const cases: readonly { name: string; patch: string; want: readonly string[] }[] = [
    { name: "nothing of that", patch: "machine:\n  sysctls: {a: '1'}\ncluster:\n  network: {dnsDomain: x}\n", want: [] },
    { name: "the Talos CA", patch: "machine:\n  ca: {crt: QQ==}\n", want: ["v1alpha1:machine.ca"] },
    {
      name: "the role and a token",
      patch: "machine:\n  type: worker\n  token: x\n",
      want: ["v1alpha1:machine.type", "v1alpha1:machine.token"],
    },
    {
      name: "the cluster's secret and CA",
      patch: "cluster:\n  secret: x\n  ca: {}\n",
      want: ["v1alpha1:cluster.secret", "v1alpha1:cluster.ca"],
    },
    {
      name: "the etcd CA but not other etcd settings",
      patch: "cluster:\n  etcd:\n    subnet: 10.0.0.0/8\n    ca: {}\n",
      want: ["v1alpha1:cluster.etcd.ca"],
    },
    { name: "deletion of a section with keys in it", patch: "cluster:\n  $patch: delete\n", want: ["v1alpha1:cluster"] },
    {
      name: "the identity document of Talos 1.14",
      patch: "apiVersion: v1alpha1\nkind: DiscoveryIdentityConfig\nclusterID: x\n",
      want: ["DiscoveryIdentityConfig:"],
    },
    {
      name: "an issuing CA of Talos 1.14",
      patch: "apiVersion: v1alpha1\nkind: KubeAPIServerCAConfig\nissuingCA: {cert: x}\n",
      want: ["KubeAPIServerCAConfig:issuingCA"],
    },
    {
      name: "deletion of a document with keys in it",
      patch: "apiVersion: v1alpha1\nkind: KubeServiceAccountConfig\n$patch: delete\n",
      want: ["KubeServiceAccountConfig:"],
    },
    { name: "an operation on a token", patch: '[{"op":"replace","path":"/machine/token","value":"x"}]', want: ["v1alpha1:machine.token"] },
    { name: "an operation inside a CA", patch: '[{"op":"remove","path":"/cluster/ca/key"}]', want: ["v1alpha1:cluster.ca.key"] },
    { name: "an operation on everything", patch: '[{"op":"replace","path":"","value":{}}]', want: ["v1alpha1:"] },
    {
      name: "moving a secret away",
      patch: '[{"op":"move","from":"/cluster/secret","path":"/machine/env/x"}]',
      want: ["v1alpha1:cluster.secret"],
    },
    { name: "a test of a token changes nothing", patch: '[{"op":"test","path":"/machine/token","value":"x"}]', want: [] },
  ];
  for (const { name, patch, want } of cases) {
    test(name, () => {
      assert.deepEqual(
        findForbiddenPatchPaths(patch).map(({ document, path }) => `${document}:${path}`),
        want,
      );
    });
  }
});
