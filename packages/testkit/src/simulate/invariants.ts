import { createHash } from "node:crypto";
import { clusterRecordResource, type ClusterRecord } from "@talos-operator/api";
import { createKubeClient, type KubeObject } from "@talos-operator/kube-runtime";
import type { KubeRequest, KubeTransport } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import { CLUSTER_NAME, NAMESPACE } from "./scenario.ts";
import type { EffectId } from "./effects.ts";

const secretType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true } as const;

type Secret = KubeObject & { readonly data?: Readonly<Record<string, string>> };

/** A broken rule, told with the facts that broke it. */
export type Report = (invariant: string, detail: string) => void;

/** base64(SHA-256(SubjectPublicKeyInfo)) of a certificate. */
export type DescribeSpki = (certificate: string) => string;

/** Watches one world and tells what must never be. Reads past every fault. */
export interface Invariants {
  /** Before an effect leaves the operator. */
  beforeSend(effect: EffectId, address: string | undefined): Promise<void>;
  /** After an effect took place, and once at the end. */
  check(): Promise<void>;
  /** What the operator writes where anybody may read. */
  inspectWrite(request: KubeRequest): void;
  inspectText(source: string, text: string): void;
}

/**
 * S1 one founding for a Talos cluster id; S2 none while a control plane holds etcd data, or is out of sight and was configured; S3 only the recorded
 * target, recorded before; S5 the bundle never changes; S7 no machine gets a config of another bundle; S9 nothing secret where anybody may read;
 * S20 a machine gets its configuration only after its identity was written down, and only the machine that was.
 *
 * @param truth the Kubernetes API without faults
 */
export function createInvariants(truth: KubeTransport, datacenter: Datacenter, describeSpki: DescribeSpki, report: Report): Invariants {
  const client = createKubeClient(truth);
  const secrets = client.resource<Secret>(secretType);
  const records = client.resource(clusterRecordResource);
  let firstBundle: { readonly name: string; readonly hash: string } | undefined;
  let bootstrapTarget: string | undefined;
  const secretTexts = new Set<string>();

  const readRecord = async (): Promise<ClusterRecord | undefined> =>
    (await records.tryGet({ namespace: NAMESPACE, name: CLUSTER_NAME })) as ClusterRecord | undefined;

  async function checkBundle(): Promise<void> {
    const { items } = await secrets.list({ namespace: NAMESPACE });
    for (const secret of items) for (const value of Object.values(secret.data ?? {})) remember(value);
    const bundles = items.filter((secret) => /-bundle-\d+$/.test(secret.metadata?.name ?? ""));
    if (bundles.length > 1) report("S5", `there are ${bundles.length} bundles of one cluster`);
    const [bundle] = bundles;
    if (bundle === undefined) return;
    const seen = { name: bundle.metadata?.name ?? "", hash: createHash("sha256").update(JSON.stringify(bundle.data)).digest("hex") };
    firstBundle ??= seen;
    if (seen.name !== firstBundle.name || seen.hash !== firstBundle.hash)
      report("S5", `the bundle changed: ${seen.name} is not what it was`);
  }

  /** Long values only: a short one (a name, a number) occurs by chance. */
  function remember(encoded: string): void {
    const text = Buffer.from(encoded, "base64").toString("utf8");
    for (const match of text.matchAll(/[A-Za-z0-9+/=_.-]{23,}/g)) if (isSecret(match[0], text)) secretTexts.add(match[0]);
  }

  function isSecret(word: string, text: string): boolean {
    // Certificates are public; keys, tokens and secrets stand in lines that say so.
    const line = text.slice(text.lastIndexOf("\n", text.indexOf(word)) + 1, text.indexOf(word));
    return /\b(key|client-key-data|secret|token|bootstraptoken|secretboxencryptionsecret)"?:\s*"?$/i.test(line);
  }

  function inspectText(source: string, text: string): void {
    if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) report("S9", `${source} holds a private key`);
    for (const secret of secretTexts)
      if (text.includes(secret)) report("S9", `${source} holds a secret of the bundle (${secret.slice(0, 4)}...)`);
  }

  return {
    async beforeSend(effect, address) {
      if (address === undefined) return;
      const record = await readRecord();
      const known = [...(record?.spec.knownControlPlanes ?? []), ...(record?.spec.knownWorkers ?? [])];
      if (effect === "T2") {
        const pinned = known.find((machine) => machine.address === address);
        const spki = currentSpki(datacenter, address, describeSpki);
        if (pinned === undefined) report("S20", `a configuration goes to ${address} before its identity was written down`);
        else if (pinned.spki !== spki) report("S20", `a configuration goes to ${address}, whose key is not the recorded one`);
      }
      if (effect !== "T4") return;
      const intent = record?.spec.bootstrap?.intent ?? record?.spec.bootstrap?.done;
      if (intent === undefined) report("S3", `Bootstrap goes to ${address} without a recorded intent`);
      else if (intent.machine.address !== address) report("S3", `Bootstrap goes to ${address}, but ${intent.machine.address} is recorded`);
      if (bootstrapTarget !== undefined && bootstrapTarget !== address)
        report("S3", `Bootstrap goes to ${address} after it went to ${bootstrapTarget}`);
      bootstrapTarget = address;
      const controlPlanes = record?.spec.knownControlPlanes ?? [];
      for (const other of controlPlanes.filter((machine) => machine.configuredAt !== undefined && machine.releasedAt === undefined)) {
        const { state } = datacenter.machine(other.address);
        // The target itself may hold data already: a repeated call whose first reply was lost is refused by the machine and harmless.
        if (state.etcd.data !== undefined && other.address !== address)
          report("S2", `Bootstrap goes to ${address} while ${other.address} holds etcd data`);
        if (state.power === "off" || !state.isConnected)
          report("S2", `Bootstrap goes to ${address} while ${other.address} is out of sight`);
      }
    },
    async check() {
      const foundings = new Map<string, number>();
      for (const cluster of datacenter.etcdClusters()) foundings.set(cluster.clusterId, (foundings.get(cluster.clusterId) ?? 0) + 1);
      for (const [clusterId, count] of foundings)
        if (count > 1) report("S1", `etcd of cluster ${clusterId.slice(0, 8)} was founded ${count} times`);
      if (foundings.size > 1) report("S7", `machines of one cluster carry ${foundings.size} cluster ids`);
      await checkBundle();
    },
    inspectWrite(request) {
      if (request.method === "GET" || /\/secrets(\/|$)/.test(request.path)) return;
      inspectText(`${request.method} ${request.path}`, JSON.stringify(request.body ?? null));
    },
    inspectText,
  };
}

/** Key of the certificate that a machine presents in maintenance mode. */
function currentSpki(datacenter: Datacenter, address: string, describeSpki: DescribeSpki): string | undefined {
  const { api } = datacenter.machine(address).state;
  return api.kind === "down" ? undefined : describeSpki(api.identity.certificate);
}
