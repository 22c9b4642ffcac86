import type { Finding, TalosControlPlane } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { isConfigError } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { ConfigRefusal } from "../config/refusal.ts";
import { renderMachineConfig } from "../config/render.ts";
import { bundleInForce } from "../record/bundle-in-force.ts";
import { whoElseHasKeys } from "../record/who-has-keys.ts";
import type { BundleStore } from "../secrets/bundle-store.ts";
import { withoutConfig } from "./declared.ts";
import { asMade } from "./fixed-properties.ts";
import type { ClusterSession } from "../reconcilers/cluster-session.ts";
import type { ConfigBase, DeclaredMachine } from "../model/machine.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { SeenRecord } from "../model/observation.ts";

/** What checking configs that people wrote needs. */
export interface CheckWrittenPorts {
  readonly client: KubeClient;
  readonly bundles: BundleStore;
}

interface Cluster {
  readonly controlPlane: TalosControlPlane;
  readonly record: SeenRecord | undefined;
  /** The bundle is there, and ours. */
  readonly hasKeys: boolean;
}

/**
 * Holds whole configs that people wrote against the cluster: its keys must be this cluster's, and no other cluster's (S7). One of the control planes stops
 * everything, one of a pool or machine stops its machines.
 */
export async function checkWritten(
  declared: readonly DeclaredMachine[],
  cluster: Cluster,
  session: ClusterSession,
  ports: CheckWrittenPorts,
): Promise<{ readonly declared: readonly DeclaredMachine[]; readonly problems: readonly Finding[] }> {
  const written = declared.filter(({ machineSpec }) => machineSpec.base !== undefined);
  if (written.length === 0) return { declared, problems: [] };
  const own = written.find(({ owner, isHandMade }) => owner.kind === "TalosControlPlane" && isHandMade !== true)?.machineSpec.base;
  const shared = own === undefined ? undefined : await problemOfShared(own, cluster, ports.client);
  if (shared !== undefined) return { declared, problems: [shared] };
  const facts = cluster.record?.facts;
  if (facts === undefined || !cluster.hasKeys) return { declared, problems: [] };
  const refused = await refusals(written, cluster, facts, session, ports, own?.endpoint);
  const problems: Finding[] = [];
  const next = declared.map((machine) => {
    const words = refused.get(keyOf(machine));
    if (words === undefined) return machine;
    const { base: _base, ...machineSpec } = machine.machineSpec;
    if (machine.owner.kind === "TalosControlPlane" && machine.isHandMade !== true && problems.length === 0)
      problems.push({ field: "spec.configRef", ...sentences(words), reason: "ClusterMismatch" });
    return { ...machine, machineSpec, ...withoutConfig(machine, { reason: "ClusterMismatch", message: `spec.configRef: ${words}.` }) };
  });
  return { declared: next, problems };
}

/** Why configs are refused, by {@link keyOf}. The answer for the same texts and keys is kept. */
async function refusals(
  written: readonly DeclaredMachine[],
  { controlPlane }: Cluster,
  facts: ClusterFacts,
  session: ClusterSession,
  { bundles }: CheckWrittenPorts,
  asked: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const { spec, metadata } = controlPlane;
  const found = new Map<string, string>();
  if (spec === undefined) return found;
  const wished = (spec.endpoint ?? "") === "" ? asked : spec.endpoint;
  const endpoints = new Set([facts.endpoint, facts.nextEndpoint, wished, ...(facts.formerEndpoints ?? [])]);
  for (const machine of written) {
    const key = keyOf(machine);
    const { base } = machine.machineSpec;
    if (base?.endpoint !== undefined && !endpoints.has(base.endpoint)) {
      found.set(key, `${base.source} names another cluster.controlPlane.endpoint than ${facts.endpoint}. Make them agree`);
      continue;
    }
    const question = JSON.stringify([facts.bundle.fingerprint, facts.endpoint, key]);
    let words = session.writtenVerdicts.get(question);
    if (words === undefined) {
      const secrets = await bundleInForce(session, bundles, metadata.namespace, facts.bundle);
      words = refusalOf(machine, facts, asMade(spec, facts), metadata.name, secrets);
      if (session.writtenVerdicts.size >= MAX_VERDICTS) session.writtenVerdicts.clear();
      session.writtenVerdicts.set(question, words);
    }
    if (words !== "") found.set(key, words);
  }
  return found;
}

const MAX_VERDICTS = 256;

/** Empty = nothing is wrong with it that the checks of specs do not say. */
function refusalOf(
  machine: DeclaredMachine,
  facts: ClusterFacts,
  controlPlane: NonNullable<TalosControlPlane["spec"]>,
  clusterName: string,
  secrets: SecretsBundle,
): string {
  try {
    renderMachineConfig({
      role: machine.role,
      clusterName,
      endpoint: facts.endpoint,
      controlPlane,
      machineSpec: machine.machineSpec,
      version: machine.version,
      readBy: undefined,
      platform: "metal",
      installDisk: "/dev/sda",
      addresses: [machine.address],
      secrets,
    });
    return "";
  } catch (thrown) {
    if (thrown instanceof ConfigRefusal) return thrown.message;
    if (isConfigError(thrown)) return "";
    throw thrown;
  }
}

/** Keys in a config are no other cluster's that was there first. Unknown: nothing is made of keys that may be. */
async function problemOfShared(base: ConfigBase, { controlPlane, record }: Cluster, client: KubeClient): Promise<Finding | undefined> {
  if (base.fingerprint === undefined || record?.facts.bootstrapDone !== undefined) return undefined;
  const { namespace, name } = controlPlane.metadata;
  const since = record === undefined ? undefined : (record.metadata.creationTimestamp ?? "");
  const other = await whoElseHasKeys(base.clusterId ?? "", { namespace, name }, client, since);
  if (other.kind === "absent") return undefined;
  if (other.kind === "unknown")
    return {
      field: "spec.configRef",
      message: `whether another cluster has the keys in ${base.source} cannot be read`,
      remedy: "Grant the operator list on clusterrecords; it looks again",
      reason: "ReferenceUnread",
    };
  return {
    field: "spec.configRef",
    message: `${base.source} holds the keys of ${other.value}`,
    remedy: "Take the keys out of it, and this cluster gets its own",
    reason: "ClusterMismatch",
  };
}

function keyOf({ role, machineSpec, version }: DeclaredMachine): string {
  const { base, configPatches, additionalConfig } = machineSpec;
  return JSON.stringify([role, base?.hash, version, configPatches, additionalConfig]);
}

/** The last sentence is the remedy. */
function sentences(words: string): Pick<Finding, "message" | "remedy"> {
  const end = words.lastIndexOf(". ");
  return end < 0 ? { message: words, remedy: "Correct it" } : { message: words.slice(0, end), remedy: words.slice(end + 2) };
}
