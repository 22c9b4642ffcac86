import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { validateMachineConfig, type RuntimeMode } from "../validate.ts";
import { hazardCodes, hazardOf } from "./hazard.ts";
import type { HazardCode } from "./hazards.ts";

const machine = "machine: {type: worker, install: {disk: /dev/sda}}\n";
const cluster = (members: string): string => `${machine}cluster: {${members}}\n`;
const endpoint = "controlPlane: {endpoint: 'https://192.0.2.1:6443'}";

interface Case {
  readonly name: string;
  readonly config: string;
  readonly mode?: RuntimeMode;
  /** `code document path` of every hazard. */
  readonly hazards: readonly `${HazardCode} ${string}`[];
}

const cases: readonly Case[] = [
  { name: "a plain config has none", config: cluster(endpoint), hazards: [] },
  {
    name: "a fixed address inside the pod network",
    config: `machine: {install: {disk: /dev/sda}, network: {interfaces: [{addresses: [192.0.2.2/24, 10.244.3.4/24]}]}}\ncluster: {${endpoint}}\n`,
    hazards: ["ADDRESS_IN_CLUSTER_SUBNET v1alpha1 machine.network.interfaces[0].addresses[1]"],
  },
  {
    name: "shared address, gateway and VLAN inside the service network",
    config: `machine: {install: {disk: /dev/sda}, network: {interfaces: [{vip: {ip: 10.97.0.1}, routes: [{gateway: 10.98.0.1}], vlans: [{vlanId: 5, addresses: [10.99.0.1/24]}]}]}}\ncluster: {${endpoint}}\n`,
    hazards: [
      "ADDRESS_IN_CLUSTER_SUBNET v1alpha1 machine.network.interfaces[0].vip.ip",
      "ADDRESS_IN_CLUSTER_SUBNET v1alpha1 machine.network.interfaces[0].routes[0].gateway",
      "ADDRESS_IN_CLUSTER_SUBNET v1alpha1 machine.network.interfaces[0].vlans[0].addresses[0]",
    ],
  },
  {
    name: "addresses of documents",
    config: `${cluster(`${endpoint}, network: {podSubnets: [10.1.0.0/16]}`)}---\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\naddresses: [{address: 10.1.2.3/24}]\n---\napiVersion: v1alpha1\nkind: Layer2VIPConfig\nname: 10.1.2.4\nlink: eth0\n`,
    hazards: ["ADDRESS_IN_CLUSTER_SUBNET LinkConfig/eth0 addresses[0].address", "ADDRESS_IN_CLUSTER_SUBNET Layer2VIPConfig/10.1.2.4 name"],
  },
  {
    name: "an endpoint inside the pod network",
    config: cluster("controlPlane: {endpoint: 'https://10.244.0.1:6443'}"),
    hazards: ["ADDRESS_IN_CLUSTER_SUBNET v1alpha1 cluster.controlPlane.endpoint"],
  },
  {
    name: "an endpoint without https and port",
    config: cluster("controlPlane: {endpoint: 'http://192.0.2.1'}"),
    hazards: ["ENDPOINT_NOT_HTTPS v1alpha1 cluster.controlPlane.endpoint", "ENDPOINT_WITHOUT_PORT v1alpha1 cluster.controlPlane.endpoint"],
  },
  ...["https://127.0.0.1:6443", "https://localhost:6443", "https://[::1]:6443", "https://0.0.0.0:6443"].map((text): Case => ({
    name: `the endpoint ${text}`,
    config: cluster(`controlPlane: {endpoint: '${text}'}`),
    hazards: ["ENDPOINT_LOCAL v1alpha1 cluster.controlPlane.endpoint"],
  })),
  {
    name: "networks that overlap",
    config: cluster(`${endpoint}, network: {podSubnets: [10.0.0.0/8], serviceSubnets: [10.96.0.0/12, 'fd00::/112']}`),
    hazards: ["CLUSTER_SUBNETS_OVERLAP v1alpha1 cluster.network.serviceSubnets[0]"],
  },
  {
    name: "networks that are none or too large",
    config: cluster(`${endpoint}, network: {podSubnets: [10.244.0.0], serviceSubnets: [172.16.0.0/11, 'fd00::/64', 'fd01::/108']}`),
    hazards: [
      "CLUSTER_SUBNET_INVALID v1alpha1 cluster.network.podSubnets[0]",
      "SERVICE_SUBNET_TOO_LARGE v1alpha1 cluster.network.serviceSubnets[0]",
      "SERVICE_SUBNET_TOO_LARGE v1alpha1 cluster.network.serviceSubnets[1]",
    ],
  },
  {
    name: "no disk on metal",
    config: `machine: {type: worker}\ncluster: {${endpoint}}\n`,
    hazards: ["INSTALL_DISK_ABSENT v1alpha1 machine.install"],
  },
  { name: "no disk in the cloud", config: `machine: {type: worker}\ncluster: {${endpoint}}\n`, mode: "cloud", hazards: [] },
  {
    name: "a selector instead of a disk",
    config: `machine: {install: {diskSelector: {size: '> 10GB'}}}\ncluster: {${endpoint}}\n`,
    hazards: [],
  },
  {
    name: "a disk in a document of its own",
    config: `machine: {type: worker}\ncluster: {${endpoint}}\n---\napiVersion: v1alpha1\nkind: UnattendedInstallConfig\nprovisioning: {diskSelector: {match: system_disk}}\n`,
    hazards: [],
  },
  {
    name: "a firewall without a way in",
    config: "apiVersion: v1alpha1\nkind: NetworkDefaultActionConfig\ningress: block\n",
    hazards: ["TALOS_API_BLOCKED NetworkDefaultActionConfig ingress"],
  },
  {
    name: "a firewall with a rule for another port",
    config:
      "apiVersion: v1alpha1\nkind: NetworkDefaultActionConfig\ningress: block\n---\napiVersion: v1alpha1\nkind: NetworkRuleConfig\nname: a\nportSelector: {ports: [6443], protocol: tcp}\ningress: [{subnet: 0.0.0.0/0}]\n",
    hazards: ["TALOS_API_BLOCKED NetworkDefaultActionConfig ingress"],
  },
  {
    name: "a firewall with a rule that lets nobody in",
    config:
      "apiVersion: v1alpha1\nkind: NetworkDefaultActionConfig\ningress: block\n---\napiVersion: v1alpha1\nkind: NetworkRuleConfig\nname: a\nportSelector: {ports: [50000], protocol: tcp}\ningress: []\n",
    hazards: ["TALOS_API_BLOCKED NetworkDefaultActionConfig ingress"],
  },
  {
    name: "a firewall with a rule for a range of ports",
    config:
      "apiVersion: v1alpha1\nkind: NetworkDefaultActionConfig\ningress: block\n---\napiVersion: v1alpha1\nkind: NetworkRuleConfig\nname: a\nportSelector: {ports: [49999-50001], protocol: tcp}\ningress: [{subnet: 0.0.0.0/0}]\n",
    hazards: [],
  },
  {
    name: "a document alone says nothing of the cluster",
    config: "apiVersion: v1alpha1\nkind: LinkConfig\nname: a\naddresses: [{address: 10.244.0.1/24}]\n",
    hazards: [],
  },
];

for (const { name, config, mode = "metal", hazards } of cases) {
  test(`hazards: ${name}`, () => {
    const found = validateMachineConfig(config, { mode }).hazards;
    assert.deepEqual(
      found.map(({ code, document, path }) => `${code} ${document} ${path}`),
      hazards,
    );
    for (const { message } of found) assert.match(message, /[;,] .+/);
  });
}

test("a hazard is no error and no warning", () => {
  const text = cluster("controlPlane: {endpoint: 'http://192.0.2.1'}");
  const { errors, warnings, report, hazards } = validateMachineConfig(text, { mode: "cloud", strict: true });
  assert.equal(hazards.length, 2);
  for (const said of [...errors, ...warnings, report ?? ""]) assert.doesNotMatch(said, /port 443|speaks https/);
});

test("every code has an entry on the page and a case above, and every entry is a code", () => {
  const page = readFileSync(new URL("../../../../../../docs/reference/config-hazards.md", import.meta.url), "utf8");
  const entries = page.split(/^## /m).slice(1);
  assert.deepEqual(
    entries.map((entry) => entry.split("\n")[0]),
    hazardCodes,
  );
  for (const entry of entries) assert.match(entry, /^- Cause: \S.*\n- Effect: \S.*\n- Remedy: \S.*\n- Held back: (yes|no)$/m);
  for (const code of hazardCodes) {
    const { holdsBack } = hazardOf({ code, document: "", path: "", message: "" });
    assert.match(entries.find((entry) => entry.startsWith(code)) ?? "", holdsBack ? /^- Held back: yes$/m : /^- Held back: no$/m);
  }
  const seen = new Set(cases.flatMap(({ hazards }) => hazards.map((hazard) => hazard.split(" ")[0])));
  assert.deepEqual(
    hazardCodes.filter((code) => !seen.has(code)),
    [],
  );
});
