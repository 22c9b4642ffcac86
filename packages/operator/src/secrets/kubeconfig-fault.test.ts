import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { kubeconfigFault } from "./kubeconfig-fault.ts";

const kubeconfig = (user: object, cluster: object = {}): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "demo", cluster: { server: "https://10.0.0.1:6443", "certificate-authority-data": "Y2E=", ...cluster } }],
    users: [{ name: "admin", user }],
    contexts: [{ name: "a", context: { cluster: "demo", user: "admin" } }],
    "current-context": "a",
  });
const plain = { "client-certificate-data": "YQ==", "client-key-data": "YQ==" };

for (const name of ["kubeconfig-1.13", "kubeconfig-accepted-cas", "kubeconfig-lifetime"])
  test(`a kubeconfig of the genuine machinery is taken: ${name}`, () => {
    const genuine = readFileSync(new URL(`../../../talos/testdata/golden/kubernetes/${name}/kubeconfig`, import.meta.url), "utf8");
    assert.equal(kubeconfigFault(genuine), undefined);
  });

for (const [what, text] of [
  ["runs a command on the host of whoever uses it", kubeconfig({ exec: { command: "/bin/sh" } })],
  ["reads a file of whoever uses it", kubeconfig({ ...plain, tokenFile: "/etc/passwd" })],
  ["checks no certificate", kubeconfig(plain, { "insecure-skip-tls-verify": true })],
  ["sends everything through a proxy", kubeconfig(plain, { "proxy-url": "http://10.0.0.9" })],
  ["is none", "]["],
] as const)
  test(`a kubeconfig that ${what} is not given to people`, () => assert.notEqual(kubeconfigFault(text), undefined));
