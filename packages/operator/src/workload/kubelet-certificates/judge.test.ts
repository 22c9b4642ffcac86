import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CertificateRequestFacts } from "@talos-operator/ports";
import { judgeRequest } from "./judge.ts";
import type { Around, AskedCertificate, CertificateMachine } from "./judge.ts";
import type { SeenNode } from "../../model/workload.ts";

const user = "system:node:worker-1.example.com";
const node: SeenNode = {
  name: "worker-1.example.com",
  uuid: "11111111-0000-0000-0000-000000000001",
  addresses: ["10.0.0.1", "192.168.7.1", "fd00::1", "worker-1"],
  isReady: true,
  isCordonedByUs: false,
};
const other: SeenNode = {
  name: "worker-2",
  uuid: "11111111-0000-0000-0000-000000000002",
  addresses: ["10.0.0.2"],
  isReady: true,
  isCordonedByUs: false,
};
const machine: CertificateMachine = { machine: "demo-worker-1", uuid: node.uuid, address: "10.0.0.1", nodeName: node.name };
const neighbour: CertificateMachine = { machine: "demo-worker-2", uuid: other.uuid, address: "10.0.0.2", nodeName: other.name };
const around: Around = {
  machines: [machine, neighbour],
  nodes: [node, other],
  reserved: ["10.0.0.100", "api.example.com", "kubernetes", "10.0.0.9"],
  networks: ["10.244.0.0/16", "10.96.0.0/12"],
};
const asks: CertificateRequestFacts = {
  commonName: user,
  organizations: ["system:nodes"],
  dnsNames: [node.name],
  ipAddresses: ["10.0.0.1"],
  otherNames: [],
};
const asked: AskedCertificate = {
  signerName: "kubernetes.io/kubelet-serving",
  username: user,
  groups: ["system:nodes", "system:authenticated"],
  usages: ["digital signature", "server auth"],
  asks,
};
const asking = (change: Partial<CertificateRequestFacts>): AskedCertificate => ({ ...asked, asks: { ...asks, ...change } });
const telling = (addresses: readonly string[]): Around => ({
  ...around,
  nodes: [{ ...node, addresses: [...node.addresses, ...addresses] }, other],
});

describe("a certificate of a kubelet is approved", () => {
  const approved: readonly (readonly [what: string, asked: AskedCertificate, around?: Around])[] = [
    ["for the machine's own name and address", asked],
    ["for a key that can encipher, as RSA keys can", { ...asked, usages: ["digital signature", "key encipherment", "server auth"] }],
    ["for other addresses of its Node", asking({ ipAddresses: ["10.0.0.1", "192.168.7.1"] })],
    ["for an address in another spelling", asking({ ipAddresses: ["fd00:0:0:0::1"] })],
    ["for the host name that the Node's name begins with", asking({ dnsNames: [node.name, "worker-1"] })],
    ["for an address alone", asking({ dnsNames: [] })],
    ["for a name alone", asking({ ipAddresses: [] })],
    ["of a machine whose own address is the endpoint", asked, { ...around, reserved: [...around.reserved, "10.0.0.1"] }],
    [
      "of a container, which has no UUID and is known by its address",
      asked,
      { ...around, machines: [{ ...machine, uuid: "" }, neighbour], nodes: [{ ...node, uuid: "" }, other] },
    ],
  ];
  for (const [what, one, world = around] of approved)
    it(what, () => assert.deepEqual(judgeRequest(one, world), { kind: "approve", machine: machine.machine }));
});

describe("a certificate of a kubelet is never approved", () => {
  const refused: readonly (readonly [what: string, why: RegExp, asked: AskedCertificate, around?: Around])[] = [
    [
      "by another signer",
      /signer is "kubernetes.io\/kube-apiserver-client/,
      { ...asked, signerName: "kubernetes.io/kube-apiserver-client" },
    ],
    ["asked by a person", /"ann" is no kubelet/, { ...asked, username: "ann" }],
    ["asked by a kubelet without name", /is no kubelet/, { ...asked, username: "system:node:" }],
    ["asked by a service account", /no kubelet/, { ...asked, username: `system:serviceaccount:x:${node.name}` }],
    ["asked by one outside the group of kubelets", /not in the group system:nodes/, { ...asked, groups: ["system:authenticated"] }],
    ["for clients", /usage "client auth"/, { ...asked, usages: ["digital signature", "server auth", "client auth"] }],
    ["for anything", /usage "any"/, { ...asked, usages: ["any"] }],
    ["for nothing", /not for serving/, { ...asked, usages: [] }],
    ["for signatures alone", /not for serving/, { ...asked, usages: ["digital signature"] }],
    ["that cannot be read", /cannot be read/, { ...asked, asks: undefined }],
    ["for another kubelet", /common name is "system:node:worker-2"/, asking({ commonName: "system:node:worker-2" })],
    ["without a common name", /common name is not given/, asking({ commonName: undefined })],
    ["for administrators", /organizations are "system:masters"/, asking({ organizations: ["system:masters"] })],
    ["for kubelets and administrators", /organizations are/, asking({ organizations: ["system:nodes", "system:masters"] })],
    ["for nobody", /organizations are ""/, asking({ organizations: [] })],
    ["for the name of another Node", /the name "worker-2/, asking({ dnsNames: ["worker-2"] })],
    ["for a name below its own", /the name "a.worker-1/, asking({ dnsNames: ["a.worker-1.example.com"] })],
    ["for every name", /the name "\*/, asking({ dnsNames: [node.name, "*.example.com"] })],
    ["for its name in capitals", /the name "WORKER-1/, asking({ dnsNames: ["WORKER-1.example.com"] })],
    [
      "for a host name that its Node tells and its name does not begin with",
      /the name "vault/,
      asking({ dnsNames: ["vault"] }),
      telling(["vault"]),
    ],
    ["for half a label of its name", /the name "work/, asking({ dnsNames: ["work"] }), telling(["work"])],
    [
      "for the name of the API, though its Node is called so",
      /the name "kubernetes/,
      { ...asked, username: "system:node:kubernetes", asks: { ...asks, commonName: "system:node:kubernetes", dnsNames: ["kubernetes"] } },
      { ...around, nodes: [{ ...node, name: "kubernetes" }], machines: [{ ...machine, nodeName: "kubernetes" }] },
    ],
    ["for the address of another machine", /the address "10.0.0.2/, asking({ ipAddresses: ["10.0.0.2"] })],
    ["for an address that nobody knows", /the address "8.8.8.8/, asking({ ipAddresses: ["10.0.0.1", "8.8.8.8"] })],
    ["for what is no address", /the address "10.0.0.1\/8/, asking({ ipAddresses: ["10.0.0.1/8"] })],
    [
      "for the address of another machine that its Node tells",
      /the address "10.0.0.2/,
      asking({ ipAddresses: ["10.0.0.2"] }),
      telling(["10.0.0.2"]),
    ],
    [
      "for the address that only the record of another machine has",
      /the address "10.0.0.2/,
      asking({ ipAddresses: ["10.0.0.2"] }),
      { ...telling(["10.0.0.2"]), nodes: [{ ...node, addresses: [...node.addresses, "10.0.0.2"] }] },
    ],
    [
      "for the address of a Node that tells one of its own",
      /192.168.7.9/,
      asking({ ipAddresses: ["192.168.7.9"] }),
      {
        ...around,
        nodes: [
          { ...node, addresses: [...node.addresses, "192.168.7.9"] },
          { ...other, addresses: [...other.addresses, "192.168.7.9"] },
        ],
      },
    ],
    ["for the endpoint that its Node tells", /the address "10.0.0.100/, asking({ ipAddresses: ["10.0.0.100"] }), telling(["10.0.0.100"])],
    [
      "for a silent machine's address that its Node tells",
      /the address "10.0.0.9/,
      asking({ ipAddresses: ["10.0.0.9"] }),
      telling(["10.0.0.9"]),
    ],
    ["for loopback that its Node tells", /the address "127.0.0.1/, asking({ ipAddresses: ["127.0.0.1"] }), telling(["127.0.0.1"])],
    ["for the API's Service that its Node tells", /the address "10.96.0.1/, asking({ ipAddresses: ["10.96.0.1"] }), telling(["10.96.0.1"])],
    [
      "for the address of another machine in IPv6 clothes that its Node tells",
      /the address "::ffff:10.0.0.2"/,
      asking({ ipAddresses: ["::ffff:10.0.0.2"] }),
      telling(["::ffff:10.0.0.2"]),
    ],
    ["for a pod that its Node tells", /the address "10.244.3.4/, asking({ ipAddresses: ["10.244.3.4"] }), telling(["10.244.3.4"])],
    ["for a mail address", /email:a@b.c/, asking({ otherNames: ["email:a@b.c"] })],
    ["for a URL", /url:https/, asking({ otherNames: ["url:https://a.b"] })],
    ["without names", /no name and no address/, asking({ dnsNames: [], ipAddresses: [] })],
    ["without a Node", /there is no Node "worker-1/, asked, { ...around, nodes: [other] }],
    ["of a Node that no machine of ours is", /no machine of this cluster/, asked, { ...around, machines: [neighbour] }],
    [
      "of a Node that two machines say they are",
      /demo-worker-1 and demo-worker-2 say/,
      asked,
      { ...around, machines: [machine, { ...neighbour, nodeName: node.name }] },
    ],
    [
      "of a Node that tells another UUID",
      /reports another UUID/,
      asked,
      { ...around, nodes: [{ ...node, uuid: "22222222-0000-0000-0000-000000000001" }, other] },
    ],
    [
      "while another Node tells the UUID of the machine",
      /the Node worker-2 reports the UUID/,
      asked,
      { ...around, nodes: [node, { ...other, uuid: node.uuid }] },
    ],
  ];
  for (const [what, why, one, world = around] of refused)
    it(what, () => {
      const verdict = judgeRequest(one, world);
      assert.equal(verdict.kind, "refuse");
      assert.match(verdict.kind === "refuse" ? verdict.why : "", why);
    });

  it("and what it asks for is told in a line of bounded length", () => {
    const verdict = judgeRequest(asking({ dnsNames: [`a\n\u202e${"b".repeat(10_000)}`] }), around);
    assert.ok(verdict.kind === "refuse" && verdict.why.length < 300 && !/[^ -~]/u.test(verdict.why));
  });
});
