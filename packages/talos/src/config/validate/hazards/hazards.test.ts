import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { validateMachineConfig, type RuntimeMode } from "../validate.ts";
import { hazardCodes, hazardOf } from "./hazard.ts";
import { removedAccess } from "./removed.ts";
import type { HazardCode } from "./hazards.ts";

const machine = "machine: {type: worker, install: {disk: /dev/sda}}\n";
const cluster = (members: string): string => `${machine}cluster: {${members}}\n`;
const controlPlane = (members: string): string =>
  `machine: {type: controlplane, install: {disk: /dev/sda}}\ncluster: {${endpoint}, ${members}}\n`;
const worker = (members: string): string => `machine: {type: worker, install: {disk: /dev/sda}, ${members}}\ncluster: {${endpoint}}\n`;
const podSecurity = (exemptions: string): string =>
  controlPlane(
    `apiServer: {admissionControl: [{name: PodSecurity, configuration: {kind: PodSecurityConfiguration, exemptions: {${exemptions}}}}]}`,
  );
const links = (members: string): string =>
  `machine: {type: worker, install: {disk: /dev/sda}, network: {interfaces: [${members}]}}\ncluster: {${endpoint}}\n`;
const link = (members: string): string => `---\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\n${members}`;
const endpoint = "controlPlane: {endpoint: 'https://192.0.2.1:6443'}";

interface Case {
  readonly name: string;
  readonly config: string;
  readonly mode?: RuntimeMode;
  readonly contract?: string;
  readonly addresses?: readonly string[];
  /** The config that the machine runs, reached at 192.0.2.7. */
  readonly live?: string;
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
    name: "services of IPv6 first on a machine that has IPv4 alone",
    config: controlPlane("network: {serviceSubnets: ['fd40:77:2::/112', 10.96.0.0/16]}"),
    addresses: ["127.1.0.21"],
    hazards: ["SERVICE_FAMILY_ABSENT v1alpha1 cluster.network.serviceSubnets[0]"],
  },
  {
    name: "services of IPv4 by default on a machine that has IPv6 alone",
    config: controlPlane(""),
    addresses: ["2001:db8::1"],
    hazards: ["SERVICE_FAMILY_ABSENT v1alpha1 cluster.network.serviceSubnets"],
  },
  {
    name: "services of IPv6 first on a machine that has both, on one whose addresses nobody knows, and on a worker",
    config: controlPlane("network: {serviceSubnets: ['fd40:77:2::/112', 10.96.0.0/16]}"),
    addresses: ["127.1.0.21", "2001:db8::1"],
    hazards: [],
  },
  {
    name: "services of IPv6 first on a machine whose addresses nobody knows",
    config: controlPlane("network: {serviceSubnets: ['fd40:77:2::/112']}"),
    hazards: [],
  },
  {
    name: "services of IPv6 first on a worker",
    config: cluster(`${endpoint}, network: {serviceSubnets: ['fd40:77:2::/112']}`),
    addresses: ["127.1.0.21"],
    hazards: [],
  },
  {
    name: "services of IPv6 first on a machine that gets such an address by its config",
    config: `machine: {type: controlplane, install: {disk: /dev/sda}, network: {interfaces: [{addresses: ['2001:db8::1/64']}]}}\ncluster: {${endpoint}, network: {serviceSubnets: ['fd40:77:2::/112']}}\n`,
    addresses: ["127.1.0.21"],
    hazards: [],
  },
  {
    name: "a namespace that is exempt twice",
    config: podSecurity("namespaces: [kube-system, kube-system, rook-ceph]"),
    hazards: ["POD_SECURITY_EXEMPTION_TWICE v1alpha1 cluster.apiServer.admissionControl[0].configuration.exemptions.namespaces[1]"],
  },
  {
    name: "a user and a runtime class that are exempt twice",
    config: podSecurity("usernames: [a, b, a], runtimeClasses: [gvisor, gvisor], namespaces: [a, b]"),
    hazards: [
      "POD_SECURITY_EXEMPTION_TWICE v1alpha1 cluster.apiServer.admissionControl[0].configuration.exemptions.usernames[2]",
      "POD_SECURITY_EXEMPTION_TWICE v1alpha1 cluster.apiServer.admissionControl[0].configuration.exemptions.runtimeClasses[1]",
    ],
  },
  {
    name: "a namespace that is exempt twice in a document",
    config: `${controlPlane("")}---\napiVersion: v1alpha1\nkind: KubeAdmissionControlConfig\nname: PodSecurity\nconfiguration: {exemptions: {namespaces: [a, a]}}\n`,
    hazards: ["POD_SECURITY_EXEMPTION_TWICE KubeAdmissionControlConfig/PodSecurity configuration.exemptions.namespaces[1]"],
  },
  {
    name: "the same list of another plugin",
    config: controlPlane("apiServer: {admissionControl: [{name: Another, configuration: {exemptions: {namespaces: [a, a]}}}]}"),
    hazards: [],
  },
  {
    name: "an authorizer twice, and webhooks that may be several",
    config: controlPlane(
      "apiServer: {authorizationConfig: [{type: Webhook, name: a}, {type: Webhook, name: b}, {type: RBAC, name: rbac}, {type: RBAC, name: more}]}",
    ),
    hazards: ["AUTHORIZER_TWICE v1alpha1 cluster.apiServer.authorizationConfig[3].type"],
  },
  {
    name: "a name of two authorizers",
    config: controlPlane("apiServer: {authorizationConfig: [{type: Webhook, name: a}, {type: Webhook, name: a}]}"),
    hazards: ["AUTHORIZER_TWICE v1alpha1 cluster.apiServer.authorizationConfig[1].name"],
  },
  {
    name: "rules of audit that kube-apiserver does not know",
    config: controlPlane(
      "apiServer: {auditPolicy: {rules: [{level: Metadata}, {verbs: [get]}, {level: All}, {level: None, omitStages: [Never]}]}}",
    ),
    hazards: [
      "AUDIT_POLICY_INVALID v1alpha1 cluster.apiServer.auditPolicy.rules[1].level",
      "AUDIT_POLICY_INVALID v1alpha1 cluster.apiServer.auditPolicy.rules[2].level",
      "AUDIT_POLICY_INVALID v1alpha1 cluster.apiServer.auditPolicy.rules[3].omitStages",
    ],
  },
  {
    name: "an audit policy without rules",
    config: controlPlane("apiServer: {auditPolicy: {kind: Policy}}"),
    hazards: ["AUDIT_POLICY_INVALID v1alpha1 cluster.apiServer.auditPolicy.rules"],
  },
  {
    name: "two profiles of one scheduler",
    config: controlPlane("scheduler: {config: {profiles: [{schedulerName: a}, {schedulerName: b}, {schedulerName: a}]}}"),
    hazards: ["SCHEDULER_PROFILE_TWICE v1alpha1 cluster.scheduler.config.profiles[2].schedulerName"],
  },
  {
    name: "labels that a worker may not set",
    config: worker(
      "nodeLabels: {node-role.kubernetes.io/worker: '', storage.example.org/disk: x, x.k8s.io/a: b, a.node-restriction.kubernetes.io/b: c}",
    ),
    hazards: [
      'NODE_LABEL_RESTRICTED v1alpha1 machine.nodeLabels["node-role.kubernetes.io/worker"]',
      'NODE_LABEL_RESTRICTED v1alpha1 machine.nodeLabels["x.k8s.io/a"]',
      'NODE_LABEL_RESTRICTED v1alpha1 machine.nodeLabels["a.node-restriction.kubernetes.io/b"]',
    ],
  },
  {
    name: "labels that a worker may set",
    config: worker(
      "nodeLabels: {rack: a, example.org/rack: a, topology.kubernetes.io/zone: z, node.kubernetes.io/a: b, a.kubelet.kubernetes.io/b: c, notkubernetes.io/a: b}",
    ),
    hazards: [],
  },
  {
    name: "any label on a control plane",
    config: `machine: {type: controlplane, install: {disk: /dev/sda}, nodeLabels: {node-role.kubernetes.io/worker: ''}, nodeTaints: {a: 'b:NoSchedule'}}\ncluster: {${endpoint}}\n`,
    hazards: [],
  },
  {
    name: "a label of a document",
    config: `${worker("")}---\napiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels: {node-role.kubernetes.io/gpu: ''}\ntaints: {a: 'b:NoSchedule'}\n`,
    hazards: ['NODE_LABEL_RESTRICTED KubeNodeConfig labels["node-role.kubernetes.io/gpu"]'],
  },
  {
    name: "a taint of a worker before Talos 1.14",
    config: worker("nodeTaints: {example.org/gpu: 'yes:NoSchedule'}"),
    contract: "1.13",
    hazards: ['NODE_TAINT_RESTRICTED v1alpha1 machine.nodeTaints["example.org/gpu"]'],
  },
  {
    name: "labels that the kubelet does not start with",
    config: worker("kubelet: {extraArgs: {node-labels: 'a=b,node-role.kubernetes.io/worker='}}"),
    hazards: ['KUBELET_LABEL_REFUSED v1alpha1 machine.kubelet.extraArgs["node-labels"]'],
  },
  {
    name: "labels that the kubelet starts with",
    config: worker("kubelet: {extraArgs: {node-labels: 'a=b,node.kubernetes.io/worker=a'}}"),
    hazards: [],
  },
  {
    name: "the address at which the machine is reached, and the way to it, taken out",
    config: cluster(endpoint),
    live: links("{addresses: [192.0.2.7/24], routes: [{gateway: 192.0.2.1}, {network: 198.51.100.0/24, gateway: 192.0.2.2}]}"),
    hazards: [
      "ADDRESS_REMOVED v1alpha1 machine.network.interfaces[0].addresses[0]",
      "ROUTE_REMOVED v1alpha1 machine.network.interfaces[0].routes[0]",
      "ROUTE_REMOVED v1alpha1 machine.network.interfaces[0].routes[1]",
    ],
  },
  {
    name: "the same written as a document, with another gateway",
    config: `${cluster(endpoint)}${link("addresses: [{address: 192.0.2.7/25}]\nroutes: [{gateway: 192.0.2.9}]\n")}`,
    live: links(
      "{addresses: [192.0.2.7/24], routes: [{network: 0.0.0.0/0, gateway: 192.0.2.1}, {network: 198.51.100.0/24, gateway: 192.0.2.2}]}",
    ),
    hazards: [],
  },
  {
    name: "another address, and a route of another family, of another table and of a smaller network in the place of one",
    config: `${cluster(endpoint)}${link("addresses: [{address: 192.0.2.8/24}]\nroutes: [{gateway: 'fe80::1'}, {gateway: 192.0.2.1, table: '100'}, {destination: 198.51.100.0/25}]\n")}`,
    live: `${cluster(endpoint)}${link("addresses: [{address: 192.0.2.7/24}]\nroutes: [{destination: 198.51.100.0/24, gateway: 192.0.2.1}]\n")}`,
    hazards: ["ADDRESS_REMOVED LinkConfig/eth0 addresses[0].address", "ROUTE_REMOVED LinkConfig/eth0 routes[0]"],
  },
  {
    name: "an address at which the machine is not reached, of a VLAN, taken out, and its route",
    config: links("{addresses: [192.0.2.7/24]}"),
    live: links(
      "{addresses: [192.0.2.7/24], vlans: [{vlanId: 5, addresses: [198.51.100.7/24], routes: [{network: 203.0.113.0/24, gateway: 198.51.100.1}]}]}",
    ),
    hazards: ["ROUTE_REMOVED v1alpha1 machine.network.interfaces[0].vlans[0].routes[0]"],
  },
  { name: "an address that nobody fixed", config: cluster(endpoint), live: links("{dhcp: true}"), hazards: [] },
  {
    name: "a document alone says nothing of the cluster",
    config: "apiVersion: v1alpha1\nkind: LinkConfig\nname: a\naddresses: [{address: 10.244.0.1/24}]\n",
    hazards: [],
  },
];

for (const { name, config, mode = "metal", contract, addresses, live, hazards } of cases) {
  test(`hazards: ${name}`, () => {
    const options = contract === undefined ? {} : { contract };
    const removed = live === undefined ? [] : removedAccess(config, live, { ...options, reachedAt: "192.0.2.7" });
    const found = [...validateMachineConfig(config, { mode, addresses, ...options }).hazards, ...removed];
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
