import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosControlPlaneSpec } from "@talos-operator/api";
import { checkConfig, troubleWords } from "./check.ts";
import type { ConfigCheck } from "./check.ts";
import { renderInput } from "../testing/render-input.ts";
import type { MachineSettings } from "../model/machine.ts";

function check(version: string, machineSpec: MachineSettings, over: Partial<TalosControlPlaneSpec> = {}): ConfigCheck {
  return checkConfig(renderInput(version, machineSpec, over));
}

describe("what Talos would refuse is told before a machine sees it", () => {
  const cases: readonly {
    readonly name: string;
    readonly spec?: MachineSettings;
    readonly over?: Partial<TalosControlPlaneSpec>;
    readonly says: RegExp;
  }[] = [
    {
      name: "a network plugin at no web address",
      over: { cni: { name: "custom", urls: ["file:///etc/passwd"] } },
      says: /hostname must not|scheme must be http/,
    },
    {
      name: "a patched address that is none",
      spec: { configPatches: [{ machine: { network: { interfaces: [{ interface: "eth0", addresses: ["300.1.1.1/33"] }] } } }] },
      says: /invalid CIDR address: 300\.1\.1\.1\/33/,
    },
    {
      name: "a label of nodes beyond ASCII",
      spec: { configPatches: [{ machine: { nodeLabels: { é: "ü" } } }] },
      says: /name "é" is invalid/,
    },
    {
      name: "a shared address that is the machine's own",
      spec: { configPatches: [{ apiVersion: "v1alpha1", kind: "Layer2VIPConfig", name: "10.0.0.1", link: "net0" }] },
      says: /the machine's own address/,
    },
    ...["8Gi", "abc", "", "4e9", "1.5", "9223372036854775808"].map((quota) => ({
      name: `a quota of etcd that is no number of bytes (${JSON.stringify(quota)})`,
      spec: { configPatches: [{ cluster: { etcd: { extraArgs: { "quota-backend-bytes": quota } } } }] },
      says: /quota-backend-bytes is "[^"]*", and etcd would not start/,
    })),
    { name: "a patch without content", spec: { configPatches: [{}] }, says: /an entry is empty/ },
    {
      name: "an additional document with a value outside its range",
      spec: { additionalConfig: [{ apiVersion: "v1alpha1", kind: "KmsgLogConfig", name: "far", url: "http://10.0.0.9:514" }] },
      says: /KmsgLogConfig/,
    },
  ];
  for (const version of ["v1.13.9", "v1.14.0"])
    for (const { name, spec = {}, over, says } of cases)
      test(`${name}, Talos ${version}`, () => {
        const found = check(version, spec, over);
        assert.ok(found.kind === "trouble", "it would be sent");
        assert.match(troubleWords(found), says);
      });

  const fine = { machine: { sysctls: { "vm.swappiness": "1" } } };
  for (const { name, spec, begins } of [
    {
      name: "a patch with a field that Talos does not know",
      spec: { configPatches: [fine, { machine: { sysctl: {} } }, fine] },
      begins: /^configPatches\[1\]: unknown field machine\.sysctl \(did you mean sysctls\?\)$/,
    },
    {
      name: "a field of the kubelet that is nearly one",
      spec: { configPatches: [{ machine: { kubelet: { extraArg: {} } } }] },
      begins: /^configPatches\[0\]: unknown field machine\.kubelet\.extraArg \(did you mean extraArgs\?\)$/,
    },
    {
      name: "a field that is like none",
      spec: { configPatches: [{ machine: { nonsense: 1 } }] },
      begins: /^configPatches\[0\]: unknown field machine\.nonsense\. Check its spelling and indentation$/,
    },
    { name: "a patch without content", spec: { configPatches: [fine, {}] }, begins: /^configPatches\[1\]: an entry is empty/ },
    {
      name: "a patch of the cluster's identity",
      spec: { configPatches: [{ cluster: { id: "other" } }, fine] },
      begins: /^configPatches\[0\]: a patch changes cluster\.id/,
    },
    {
      name: "the first of two that are wrong",
      spec: { configPatches: [fine, { machine: { nodeLabels: { é: "a" } } }, { machine: { nodeLabels: { ü: "b" } } }] },
      begins: /^configPatches\[1\]: [^]*"é" is invalid/,
    },
    {
      name: "a document with a value outside its range",
      spec: {
        configPatches: [fine],
        additionalConfig: [{ apiVersion: "v1alpha1", kind: "KmsgLogConfig", name: "far", url: "http://10.0.0.9:514" }],
      },
      begins: /^additionalConfig\[0\]: .*KmsgLogConfig/,
    },
  ])
    test(`${name} is named by its place`, () => {
      const found = check("v1.13.9", spec);
      assert.match(found.kind === "trouble" ? troubleWords(found) : "", begins);
    });

  for (const { name, patch, words } of [
    {
      name: "a value of another type",
      patch: { machine: { sysctls: "x" } },
      words: "configPatches[0]: machine.sysctls must be a map (key: value), not text",
    },
    {
      name: "a list in place of a map",
      patch: { machine: { sysctls: [{ "vm.swappiness": "1" }] } },
      words: "configPatches[0]: machine.sysctls must be a map (key: value), not a list",
    },
    {
      name: "text in place of a list",
      patch: { machine: { certSANs: "a" } },
      words: "configPatches[0]: machine.certSANs must be a list, not text",
    },
    {
      name: "a map in place of text",
      patch: { machine: { install: { image: { a: "b" } } } },
      words: "configPatches[0]: machine.install.image must be text, not a map",
    },
    {
      name: "a list in place of fields",
      patch: { machine: { kubelet: ["a"] } },
      words: "configPatches[0]: machine.kubelet must not be a list",
    },
    {
      name: "text in place of a switch",
      patch: { machine: { kubelet: { disableManifestsDirectory: "perhaps" } } },
      words: "configPatches[0]: machine.kubelet.disableManifestsDirectory must be true or false, not text",
    },
    {
      name: "a kind that Talos does not have",
      patch: { apiVersion: "v1alpha1", kind: "Nope" },
      words:
        'configPatches[0]: UNKNOWN_KIND: "Nope" "v1alpha1": not registered. Check the spelling of `kind` and the Talos version that introduced it',
    },
  ])
    test(`the place of ${name} is there once, and no line of a text that nobody wrote`, () => {
      const found = check("v1.13.9", { configPatches: [patch] });
      assert.equal(found.kind === "trouble" ? troubleWords(found) : "", words);
    });

  test("trouble that no entry makes is told without one", () => {
    const found = check("v1.13.9", { configPatches: [fine] }, { cni: { name: "custom", urls: ["file:///etc/passwd"] } });
    assert.doesNotMatch(found.kind === "trouble" ? troubleWords(found) : "configPatches", /configPatches/);
  });

  for (const version of ["v1.12.3", "v1.13.9", "v1.14.0"])
    test(`nothing is wrong with an ordinary one, Talos ${version}`, () => {
      const patches = [{ machine: { sysctls: { "vm.swappiness": "1" } } }];
      assert.equal(check(version, { configPatches: patches, airGap: true, imageCache: true, hostname: "one" }).kind, "fine");
    });
});

describe("a quota of etcd", () => {
  for (const quota of ["0", "-1", "4294967296", "0x80000000", "17179869184", "4_294_967_296", "9223372036854775807"])
    test(`${quota} is sent`, () => {
      const patch = { cluster: { etcd: { extraArgs: { "quota-backend-bytes": quota } } } };
      assert.equal(check("v1.13.9", { configPatches: [patch] }).kind, "fine");
    });
});

describe("what the words of Talos do not say is said beside them", () => {
  const advised = (patch: Readonly<Record<string, unknown>>): string => {
    const found = check("v1.13.9", { configPatches: [patch] });
    assert.ok(found.kind === "trouble", "it would be sent");
    return `${troubleWords(found)}. ${found.advice ?? ""}.`;
  };
  const hostname = { apiVersion: "v1alpha1", kind: "HostnameConfig", hostname: "cp-01" };
  test("a host name without a word on auto", () =>
    assert.equal(
      advised(hostname),
      `configPatches[0]: HostnameConfig: 'auto' and 'hostname' cannot be set at the same time. Write auto: "off" beside hostname: the generated config has auto: stable.`,
    ));
  test("a bare off that YAML turned into false", () =>
    assert.equal(
      advised({ ...hostname, auto: false }),
      `configPatches[0]: INVALID_VALUE: auto: "false" is not one of off, talos-addr, stable. Write auto: "off" in quotes: the Kubernetes API turned a bare off into false.`,
    ));
  test("with that line it is taken", () => assert.equal(check("v1.13.9", { configPatches: [{ ...hostname, auto: "off" }] }).kind, "fine"));
  test("other refusals keep their own words", () => {
    const found = check("v1.13.9", { configPatches: [{ ...hostname, auto: true }] });
    assert.ok(found.kind === "trouble" && found.advice === undefined);
  });
});
