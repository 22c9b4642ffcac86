import { MAX_KNOWN_MACHINES } from "../kinds/cluster-record.ts";
import { quote } from "../validation/host.ts";
import { MAX_CONTROL_PLANES } from "../validation/pools.ts";
import { wrong } from "./cluster-draft.ts";
import type { Draft, DraftGroup, Notes, Told } from "./cluster-draft.ts";
import type { ClusterDefaults, ClusterGroup, NormalisedCluster, ReadVersions, ResolvedVersion, VersionOf } from "./cluster-model.ts";
import { CONTROL_PLANE_GROUP, MAX_LABEL_LENGTH, clusterMachineName, isDnsLabel } from "./cluster-names.ts";
import { askedAs, completeVersion, minorOf, withV } from "./complete-version.ts";
import type { KubernetesCluster } from "./kubernetes-cluster.ts";
import { readFlat } from "./read-flat.ts";
import { readNested } from "./read-nested.ts";
import { readSharedOptions } from "./shared-options.ts";

/** Machine provider of groups that name none, when the operator has no setting. */
export const DEFAULT_MACHINE_PROVIDER = "default";

/** How many minors a kubelet may be older than the API servers. */
const KUBELET_SKEW = 3;

/**
 * Understands a KubernetesCluster, whichever shape it was written in.
 *
 * Equal wishes give equal models in both shapes. Nothing is guessed: what cannot be understood is a problem with its field and what to write
 * instead, and then there is no model. What is set and does nothing is listed. Never throws for an object that the schema takes.
 *
 * @param before how versions were read that were written short or not at all: they are read so again
 */
export function normaliseCluster(
  cluster: Pick<KubernetesCluster, "metadata" | "spec">,
  defaults: ClusterDefaults,
  before: ReadVersions = {},
): NormalisedCluster {
  const spec = cluster.spec ?? {};
  const shape = spec.topology === undefined ? "flat" : "nested";
  const notes: Notes = { problems: [], inertFields: [] };
  const versions = new VersionReader(notes, before);
  checkShape(spec, notes);
  if (notes.problems.length > 0) return { shape, problems: notes.problems, inertFields: [], resolvedVersions: [] };

  const { topology } = spec;
  const draft = topology === undefined ? readFlat(spec) : readNested(cluster.metadata.name, { ...spec, topology }, notes);
  const shared = readSharedOptions(spec, draft, defaults, notes);
  checkNames(draft, notes);
  checkReplicas(draft, notes);
  const talosWish = spec.talosVersion === undefined ? undefined : { field: "spec.talosVersion", value: spec.talosVersion };
  const talosVersion =
    versions.read("talos", talosWish, defaults.knownTalosVersions) ??
    versions.unwritten("talos", "spec.talosVersion", defaults.talosVersion);
  const [control] = draft.groups;
  const kubernetes = (one: Told | undefined): string | undefined => versions.read("kubernetes", one, defaults.knownKubernetesVersions);
  const ofCluster = kubernetes(draft.kubernetesVersion);
  const ofControlPlane = kubernetes(control?.version);
  // Where every group says what it wants nobody needs another.
  const isNeeded = draft.groups.some(({ version }) => version === undefined || version.value === "");
  const clusterWish =
    ofCluster ??
    (isNeeded ? versions.unwritten("kubernetes", kubernetesField(draft.shape), defaults.kubernetesVersion) : (ofControlPlane ?? ""));
  const kubernetesVersion = ofControlPlane ?? clusterWish;
  const groups = draft.groups.map((group): ClusterGroup => ({
    role: group.role,
    name: group.name?.value ?? CONTROL_PLANE_GROUP,
    replicas: group.replicas.value,
    kubernetesVersion: group.role === "controlplane" ? kubernetesVersion : (kubernetes(group.version) ?? clusterWish),
    machineSpec: { ...group.machineSpec, provider: group.machineSpec.provider || defaults.machineProvider || DEFAULT_MACHINE_PROVIDER },
    labels: group.labels,
    annotations: group.annotations,
    taints: group.taints,
  }));
  checkSkew(draft, groups, kubernetesVersion, notes);
  const conflict =
    talosVersion !== "" && kubernetesVersion !== "" ? defaults.versionConflict?.(talosVersion, kubernetesVersion) : undefined;
  if (conflict !== undefined)
    wrong(
      notes,
      (conflict.of === "talos" ? talosWish : (draft.kubernetesVersion ?? talosWish))?.field ?? "spec",
      conflict.message,
      conflict.of === "talos" ? "Write another talosVersion" : "Choose versions that go together",
      "VersionUnsupported",
    );

  const inertFields = notes.inertFields.toSorted((a, b) => (a.field < b.field ? -1 : 1));
  const result = { shape: draft.shape, problems: notes.problems, inertFields, resolvedVersions: versions.resolved };
  if (notes.problems.length > 0) return result;
  return {
    ...result,
    model: {
      name: draft.name.value,
      clusterId: draft.clusterId.value,
      kubernetesVersion,
      talosVersion,
      ...shared,
      ...(draft.networkNamespace !== undefined && { networkNamespace: draft.networkNamespace }),
      inventory: draft.inventory,
      groups,
    },
  };
}

/** Reads versions, and keeps how those were read that do not say it themselves. */
class VersionReader {
  readonly resolved: ResolvedVersion[] = [];
  readonly #notes: Notes;
  readonly #before: ReadVersions;

  constructor(notes: Notes, before: ReadVersions) {
    this.#notes = notes;
    this.#before = before;
  }

  /** `undefined` where nothing is written; empty where it is no version, which is a problem then. */
  read(of: VersionOf, one: Told | undefined, known: readonly string[]): string | undefined {
    if (one === undefined || one.value === "") return undefined;
    const result = completeVersion(one.value, known, this.#readBefore(of, one.value));
    if (!("version" in result)) {
      wrong(this.#notes, one.field, result.message, result.remedy, "VersionUnsupported");
      return "";
    }
    if (result.version !== withV(one.value)) this.resolved.push({ of, field: one.field, written: one.value, version: result.version });
    return result.version;
  }

  /** The version where nobody wrote one. */
  unwritten(of: VersionOf, field: string, fallback: string): string {
    const before = this.#readBefore(of, "");
    const version = withV(before !== undefined && minorOf(before) !== undefined ? before : fallback);
    this.resolved.push({ of, field, written: "", version });
    return version;
  }

  #readBefore(of: VersionOf, written: string): string | undefined {
    const read: unknown = this.#before[of]?.[askedAs(written)];
    return typeof read === "string" ? read : undefined;
  }
}

function kubernetesField(shape: Draft["shape"]): string {
  return shape === "flat" ? "spec.kubernetesVersion" : "spec.topology.version";
}

/** What admission refuses too, for servers that hold another schema. */
function checkShape(spec: NonNullable<KubernetesCluster["spec"]>, notes: Notes): void {
  const both = "Give either clusterName with controlPlane and workers, or data with topology";
  if (spec.topology !== undefined && spec.controlPlane !== undefined)
    wrong(notes, "spec", "controlPlane and topology are two shapes of one thing, and both are there", both);
  else if (spec.topology === undefined && spec.controlPlane === undefined)
    wrong(notes, "spec", "it has neither controlPlane nor topology", both, "SpecMissing");
  else if ((spec.data === undefined) !== (spec.topology === undefined))
    wrong(notes, "spec.data", "data and topology belong together, and one is missing", both);
  else if (spec.topology !== undefined)
    for (const field of ["clusterName", "kubernetesVersion", "workers"] as const) {
      if (spec[field] !== undefined) wrong(notes, `spec.${field}`, "it goes with controlPlane, not with topology", both);
    }
}

function checkNames({ name, clusterId, groups }: Draft, notes: Notes): void {
  const shape = "Write lower-case letters, digits and dashes, at most 63, with a letter or digit at both ends";
  for (const one of new Map([name, clusterId].map((each) => [each.field, each])).values())
    if (!isDnsLabel(one.value)) wrong(notes, one.field, `${quote(one.value)} is no DNS label, and machines are named after it`, shape);
  const seen = new Map<string, string>();
  for (const { name: group, replicas, role } of groups) {
    const text = group?.value ?? CONTROL_PLANE_GROUP;
    const field = group?.field ?? name.field;
    if (!isDnsLabel(text)) {
      wrong(notes, field, `${quote(text)} is no DNS label, and machines are named after it`, shape);
      continue;
    }
    if (role === "worker" && text === CONTROL_PLANE_GROUP)
      wrong(
        notes,
        field,
        `machines of a group ${quote(text)} would have the names of the control planes`,
        "Choose another name for the group",
      );
    const earlier = seen.get(text);
    if (earlier !== undefined)
      wrong(notes, field, `${quote(text)} is the name of another group, in ${earlier}`, "Give each group a name of its own");
    seen.set(text, field);
    const last = clusterMachineName({ name: name.value }, { name: text }, Math.max(0, Math.min(replicas.value, MAX_KNOWN_MACHINES) - 1));
    if (isDnsLabel(name.value) && last.length > MAX_LABEL_LENGTH)
      wrong(
        notes,
        field,
        `the name of its last machine, ${quote(last)}, has ${last.length} characters, and a host name has at most ${MAX_LABEL_LENGTH}`,
        `Shorten ${name.field}${role === "worker" ? " or the name of the group" : ""} by ${last.length - MAX_LABEL_LENGTH}`,
      );
  }
}

function checkReplicas({ groups }: Draft, notes: Notes): void {
  const machines = groups.reduce((sum, { replicas }) => sum + Math.max(0, replicas.value), 0);
  for (const { role, replicas } of groups) {
    const bad = replicasProblem(role, replicas.value);
    if (bad !== undefined) wrong(notes, replicas.field, ...bad, "UnsupportedReplicas");
  }
  const [largest] = groups.toSorted((a, b) => b.replicas.value - a.replicas.value);
  if (machines > MAX_KNOWN_MACHINES && largest !== undefined)
    wrong(
      notes,
      largest.replicas.field,
      `the cluster would have ${machines} machines, and this release holds ${MAX_KNOWN_MACHINES}`,
      "Make several clusters",
      "UnsupportedReplicas",
    );
}

function replicasProblem(role: DraftGroup["role"], count: number): [message: string, remedy: string] | undefined {
  if (!Number.isSafeInteger(count) || count < 0) return [`${count} is no number of machines`, "Write a whole number from 0"];
  if (role === "worker") return undefined;
  const remedy = "Write 1, 3, 5 or 7";
  if (count === 0) return ["a cluster has control planes", remedy];
  if (count > MAX_CONTROL_PLANES) return [`${count} control planes are more than ${MAX_CONTROL_PLANES}`, remedy];
  return count % 2 === 0
    ? [`${count} control planes are an even number, which survives no more losses than ${count - 1}`, remedy]
    : undefined;
}

function checkSkew({ groups: drafts }: Draft, groups: readonly ClusterGroup[], control: string, notes: Notes): void {
  const server = minorOf(control);
  for (const [index, group] of groups.entries()) {
    const kubelet = minorOf(group.kubernetesVersion);
    const draft = drafts[index];
    if (server === undefined || kubelet === undefined || draft === undefined) continue;
    const older = server[1] - kubelet[1];
    const isNewerPatch = older === 0 && group.kubernetesVersion !== control && patchOf(group.kubernetesVersion) > patchOf(control);
    if (server[0] === kubelet[0] && older >= 0 && older <= KUBELET_SKEW && !isNewerPatch) continue;
    wrong(
      notes,
      draft.version?.field ?? draft.field,
      `${group.kubernetesVersion} does not go with ${control} of the control planes`,
      `A kubelet is never newer than the control planes, and at most ${KUBELET_SKEW} minors older`,
      "VersionUnsupported",
    );
  }
}

function patchOf(version: string): number {
  return Number(/^v?\d+\.\d+\.(\d+)/.exec(version)?.[1] ?? 0);
}
