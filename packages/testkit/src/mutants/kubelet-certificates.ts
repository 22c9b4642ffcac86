import { engine } from "./mutant.ts";
import type { Mutant, SourceEdit } from "./mutant.ts";

const place = "operator/src/workload/kubelet-certificates";
const verdicts = [`${place}/judge.test.ts`];
const stories = ["testkit/src/stories/kubelet-certificates.test.ts"];

const edit = (file: string, find: string, replace: string): SourceEdit => ({ file: `${file}.ts`, find, replace });
const judged = (name: string, about: string, find: string, replace: string): Mutant => ({
  name: `certificate-${name}`,
  about: `approves the serving certificate of a kubelet ${about}`,
  tests: verdicts,
  edits: [edit(`${place}/judge`, find, replace)],
});

/** Faults of whose serving certificates are approved: each takes one clause away. */
export const kubeletCertificateFaults: readonly Mutant[] = [
  judged("of-any-signer", "whoever is to sign it", "if (signerName !== SERVING_SIGNER) return", "if (signerName === '') return"),
  judged("for-anybody", "whoever asks", "if (!username.startsWith(NODE_USER) || username === NODE_USER)", "if (username === NODE_USER)"),
  judged("of-nobody", "that has no name", " || username === NODE_USER", ""),
  judged("outside-the-group", "outside the group of kubelets", "if (!groups.includes(group))", "if (groups.length === 0)"),
  judged(
    "for-clients",
    "that is a client's as well",
    "if (other !== undefined) return `it asks for the usage",
    "if (other === 'any') return `it asks for the usage",
  ),
  judged(
    "not-for-serving",
    "that is not for serving",
    'return usages.includes("server auth") ?',
    'return usages.length > 0 || usages.includes("server auth") ?',
  ),
  judged("of-another-name", "in the name of another one", "if (commonName !== username)", "if (commonName === undefined)"),
  judged(
    "for-administrators",
    "that makes it an administrator",
    "organizations.length === 1 && organizations[0] === group",
    "organizations.includes(group)",
  ),
  judged(
    "without-a-node",
    "whose Node is none of our machines",
    "if (owner === undefined) return `no machine",
    "if (owner === undefined) return machines[0] ?? `no machine",
  ),
  judged("of-two-machines", "whose Node two machines say they are", "if (more.length > 0) return", "if (more.length > 1) return"),
  judged(
    "of-another-uuid",
    "whose Node tells another machine's UUID",
    "if (!isNodeOf(node, owner)) return",
    "if (node.uuid === '' && !isNodeOf(node, owner)) return",
  ),
  judged(
    "of-a-twin",
    "whose UUID another Node tells, too",
    "return twin === undefined ? owner :",
    "return twin === undefined || twin.name !== '' ? owner :",
  ),
  judged("for-mail", "for names of any kind", "if (otherNames.length > 0) return", "if (otherNames.length > 9) return"),
  judged(
    "for-no-name",
    "for nobody",
    "if (dnsNames.length + ipAddresses.length === 0) return",
    "if (dnsNames.length + ipAddresses.length < 0) return",
  ),
  judged("for-any-host-name", "for whatever host name it tells", " && node.name.startsWith(`${name}.`)", ""),
  judged(
    "for-half-a-name",
    "for a host name that its own begins with by letters",
    "node.name.startsWith(`${name}.`)",
    "node.name.startsWith(name)",
  ),
  judged("for-the-api", "for the API's own name", " && !reserved.includes(name);", ";"),
  judged("for-any-address", "for addresses that nobody knows", "if (!node.addresses.includes(address) || isNobodys", "if (isNobodys"),
  judged("for-loopback", "for addresses of every host, of pods and of Services", " || isNobodys(address, networks)", ""),
  judged(
    "for-the-service",
    "for addresses of pods and Services",
    "deniedHost(host, { forbiddenNetworks }) !== undefined",
    "deniedHost(host) !== undefined",
  ),
  judged(
    "for-the-endpoint",
    "for the endpoint, and for machines that do not answer",
    " || reserved.includes(address)) return false",
    ") return false",
  ),
  judged(
    "for-anothers-node",
    "for the address of another Node that it tells",
    "nodes.some((other) => other.name !== node.name && other.addresses.includes(address)) ||",
    "",
  ),
  judged(
    "for-anothers-machine",
    "for the address of another machine that it tells",
    "machines.some((other) => other.machine !== owner.machine && canonicalAddress(other.address) === address);",
    "false;",
  ),
  {
    name: "certificate-unasked",
    about: "approves serving certificates of kubelets although nobody said so",
    tests: stories,
    edits: [
      edit(
        `${engine}/procedures/certificates/rule`,
        '?.[annotations.approveKubeletCertificates] === "true"',
        '?.[annotations.approveKubeletCertificates] !== "false"',
      ),
    ],
  },
  {
    name: "certificate-of-a-paused-machine",
    about: "approves the serving certificate of a machine that is to be left alone",
    tests: [`${engine}/effects/tend-certificates.test.ts`],
    edits: [edit(`${engine}/effects/tend-certificates`, " || held?.has(declared.name) === true", "")],
  },
  {
    name: "certificate-of-a-released-machine",
    about: "approves the serving certificate of a machine that was let go",
    tests: [`${engine}/effects/tend-certificates.test.ts`],
    edits: [edit(`${engine}/effects/tend-certificates`, " || fact.releasedAt !== undefined || ", " || ")],
  },
  {
    name: "certificate-without-asking-again",
    about: "approves a serving certificate without asking right before whether the machine may still be touched",
    tests: [`${place}/cluster-certificates.test.ts`],
    edits: [
      edit(
        `${place}/cluster-certificates`,
        "const leftMs = await demand(machine);",
        "const leftMs = await demand(machine).catch(() => CALL_MS);",
      ),
    ],
  },
  {
    name: "certificates-read-as-administrator",
    about: "reads certificate requests as somebody who may do everything",
    tests: [`${place}/cluster-certificates.test.ts`],
    edits: [edit(`${place}/cluster-certificates`, '{ kind: "certificates" }', '{ kind: "approver" }')],
  },
  {
    name: "certificates-always-listed",
    about: "looks for certificate requests at every pass",
    tests: [`${engine}/procedures/certificates/rule.test.ts`],
    edits: [
      edit(
        `${engine}/procedures/certificates/rule`,
        "if (elapsedMs(certificates.at, seen.now) < CERTIFICATES_EVERY_MS) return undefined;",
        "",
      ),
    ],
  },
  {
    name: "certificates-of-everybody",
    about: "looks for certificate requests of clusters whose kubelets do not ask",
    tests: stories,
    edits: [
      edit(
        `${engine}/observe/observe`,
        "if (rotatingMachines(machines, controlPlane, facts).size > 0) return",
        "if (machines.length > 0) return",
      ),
    ],
  },
  {
    name: "certificate-asked-before",
    about: "takes a request that was answered by a later one for pending",
    tests: [`${place}/requests.test.ts`],
    edits: [
      edit(
        `${place}/requests`,
        "decided === -1 ? newestFirst : newestFirst.slice(0, decided)",
        "newestFirst.filter((one) => !isDecided(one))",
      ),
    ],
  },
  {
    name: "certificate-unread",
    about: "takes a certificate request for true that is not signed with its own key",
    tests: ["adapters/src/x509/keys.test.ts"],
    edits: [
      edit(
        "adapters/src/x509/certificate-request",
        "if (!(await request.verify())) throw",
        "if (!(await request.verify()) && text === '') throw",
      ),
    ],
  },
];
