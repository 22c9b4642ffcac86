import { isDeepStrictEqual } from "node:util";
import { conditionCatalogue, findCondition, isConditionTrue, rfc3339, saidOnce, setCondition } from "@talos-operator/api";
import type { ClusterGroup, Condition, ConditionInput, KubernetesCluster, VitistackMachine } from "@talos-operator/api";
import { sumOfUpgrades } from "../../controllers/shared/sum-of-upgrades.ts";
import { groupOfMachine } from "./machine-manifest.ts";
import type { Seen, Stage } from "./model.ts";
import { clusterResources } from "./resources.ts";
import { countOf } from "../../report/listed.ts";

type Status = NonNullable<KubernetesCluster["status"]>;

/** One word for people, for each stage in each shape (O4). */
export const phaseWords: Readonly<Record<Stage, { readonly flat: string; readonly nested: string }>> = {
  pending: { flat: "Pending", nested: "Pending" },
  invalid: { flat: "Failed", nested: "ValidationError" },
  machines: { flat: "Provisioning", nested: "ControlPlaneIPsPending" },
  configuring: { flat: "Provisioning", nested: "ConfiguringFirstControlPlane" },
  bootstrapping: { flat: "Provisioning", nested: "Bootstrapping" },
  nodes: { flat: "Provisioning", nested: "WaitingForNodes" },
  ready: { flat: "Running", nested: "Ready" },
  failed: { flat: "Failed", nested: "Failed" },
  deleting: { flat: "Pending", nested: "Pending" },
};

/** The stage that a word was said for, for a status that keeps it; `pending` for one that nobody says. */
export function stageOfPhase(phase: string | undefined): Stage {
  const found = Object.entries(phaseWords).find(([, { flat, nested }]) => phase === flat || phase === nested);
  return (found?.[0] ?? "pending") as Stage;
}

/** What a pass has to say. */
export interface WantedClusterStatus {
  readonly stage: Stage;
  readonly message: string;
  readonly conditions: readonly ConditionInput[];
  /** The newest spec was not judged: the status goes on speaking of the one before. */
  readonly isPaused?: true;
}

/** Who writes the status, as `status.state.lastUpdatedBy` has it. */
const WRITER = "talos-operator";

/**
 * The status after a pass: the same object when nothing differs, so that nothing is written. Its times move only when something else does (A030).
 *
 * Everything that the published schema demands is there, also where nothing is known.
 *
 * @param isPublished only the fields that the published schema has, for an API server with the CRD of others. Default: false
 */
export function statusAfter(before: Status | undefined, seen: Seen, wanted: WantedClusterStatus, isPublished = false): Status {
  const { cluster, now } = seen;
  const types = new Set(wanted.conditions.map(({ type }) => type));
  const kept = (before?.conditions ?? []).filter(({ type }) => types.has(type)) as readonly Condition[];
  const conditions = saidOnce(wanted.conditions).reduce<readonly Condition[]>(
    (list, condition) => setCondition(list, condition, now),
    kept,
  );
  const workers = seen.machines.filter((machine) => groupOfMachine(machine)?.role === "worker");
  const published = {
    phase: phaseWords[wanted.stage][seen.shape],
    message: wanted.message.slice(0, LONGEST_MESSAGE),
    conditions: (isPublished ? conditions.map(ungenerated) : conditions) as Status["conditions"],
    workers: workers.length,
  };
  const own = {
    controlPlaneReady: isControlPlaneReady(seen),
    workersReady: readyWorkers(seen),
    machineCount: seen.machines.length,
    upgrade: sumOfUpgrades([seen.controlPlane, ...seen.workers]),
    observedGeneration: wanted.isPaused === true ? before?.observedGeneration : (cluster.metadata.generation ?? 0),
  };
  const fields = isPublished ? published : { ...published, ...own };
  const state = stateOf(before?.state, seen);
  const stamp = rfc3339(now);
  const isSame =
    before !== undefined &&
    same(
      { ...fields, state },
      {
        ...pick({ ...before, conditions: before.conditions.filter(({ type }) => type in conditionCatalogue) }, Object.keys(fields)),
        state: undated(before.state),
      },
    );
  if (isSame) return before;
  return { ...fields, state: { ...state, lastUpdated: stamp, lastUpdatedBy: WRITER }, ...(isPublished ? {} : { lastUpdated: stamp }) };
}

function ungenerated({ type, status, reason, message, lastTransitionTime }: Condition): Condition {
  return { type, status, reason, message, lastTransitionTime };
}

/** The column Message is for one line. */
const LONGEST_MESSAGE = 1_024;

function isControlPlaneReady({ controlPlane }: Seen): boolean {
  const conditions = controlPlane?.status?.conditions;
  const isCurrent = (findCondition(conditions, "Ready")?.observedGeneration ?? 0) >= (controlPlane?.metadata.generation ?? 0);
  return isCurrent && isConditionTrue(conditions, "NodesReady") && isConditionTrue(conditions, "EtcdHealthy");
}

/** Workers that are ready nodes, not those that exist (A027). */
function readyWorkers({ talosMachines }: Seen): number {
  return talosMachines.filter(({ spec, status }) => spec?.workerRef !== undefined && isConditionTrue(status?.conditions, "Ready")).length;
}

type State = Status["state"];

/** The published skeleton, without the stamp of who wrote it when. */
function stateOf(before: State | undefined, seen: Seen): Omit<State, "lastUpdated" | "lastUpdatedBy"> {
  const { cluster, model, machines } = seen;
  const controlPlanes = machines.filter((machine) => groupOfMachine(machine)?.role === "controlplane");
  const endpoint = seen.controlPlane?.spec?.endpoint ?? (model?.endpoint.mode === "given" ? model.endpoint.url : undefined);
  const groups = model?.groups ?? [];
  return {
    cluster: {
      controlplane: groupState(
        groups.find(({ role }) => role === "controlplane"),
        controlPlanes,
      ),
      externalId: cluster.spec?.data?.clusterUid ?? "",
      nodepools: groups
        .filter(({ role }) => role === "worker")
        .map((group) => ({
          ...groupState(
            group,
            machines.filter((machine) => groupOfMachine(machine)?.name === group.name && !controlPlanes.includes(machine)),
          ),
          autoscaling: { enabled: false, minReplicas: group.replicas, maxReplicas: group.replicas },
          name: group.name,
        })),
      price: { monthly: 0, yearly: 0 },
      resources: clusterResources(machines),
    },
    created: before?.created ?? cluster.metadata.creationTimestamp ?? rfc3339(seen.now),
    egressIP: before?.egressIP ?? "",
    endpoints: endpoint === undefined ? [] : [{ name: "kubernetes", address: endpoint }],
    versions: versionsThatRun(seen),
  };
}

function groupState(group: ClusterGroup | undefined, machines: readonly VitistackMachine[]): State["cluster"]["controlplane"] {
  const running = machines.filter(({ status }) => status?.phase === "Running").length;
  const scale = group?.replicas ?? machines.length;
  return {
    machineClass: group?.machineSpec.machineClass ?? "",
    message: `${running} of ${countOf(scale, "machine")} running.`,
    nodes: machines.map(({ metadata }) => metadata.name).toSorted(),
    resources: clusterResources(machines),
    scale,
    status: running === 0 ? "Pending" : running < scale ? "Partial" : "Running",
  };
}

/** What the control plane runs; nothing before it runs. */
function versionsThatRun({ controlPlane }: Seen): State["versions"] {
  const { observedVersion, observedKubeVersion } = controlPlane?.status ?? {};
  const branch = (version: string): string => version.split(".").slice(0, 2).join(".");
  return [
    { name: "talos", version: observedVersion },
    { name: "kubernetes", version: observedKubeVersion },
  ].flatMap(({ name, version }) => (version === undefined ? [] : [{ name, branch: branch(version), version }]));
}

function undated({ lastUpdated: _at, lastUpdatedBy: _by, ...state }: State): Omit<State, "lastUpdated" | "lastUpdatedBy"> {
  return state;
}

function pick(object: Status, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => keys.includes(key)));
}

/** Equal as JSON, whatever the order of fields: an API server gives them back in its own. */
function same(a: unknown, b: unknown): boolean {
  const asStored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  return isDeepStrictEqual(asStored(a), asStored(b));
}
