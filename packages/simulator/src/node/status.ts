import { activeFacts, isControlPlane, nodenameOf } from "./identity.ts";
import type { Machine, Stage, UnmetCondition } from "./machine.ts";

export interface MachineStatusFacts {
  readonly stage: Stage;
  readonly isReady: boolean;
  readonly unmet: readonly UnmetCondition[];
}

/** `MachineStatus` as a genuine node computes it. */
export function machineStatusOf(machine: Machine): MachineStatusFacts {
  const known = statuses.get(machine);
  if (known !== undefined) return known;
  const unmet = unmetConditionsOf(machine);
  const status = { stage: machine.stage, isReady: unmet.length === 0, unmet };
  statuses.set(machine, status);
  return status;
}

/** By machine: its values are replaced and never changed, and each look asks. */
const statuses = new WeakMap<Machine, MachineStatusFacts>();

function unmetConditionsOf(machine: Machine): readonly UnmetCondition[] {
  if (activeFacts(machine) === undefined || machine.stage === "maintenance" || machine.stage === "installing") return [];
  const unmet: UnmetCondition[] = [];
  const needed = isControlPlane(machine) ? ["apid", "cri", "kubelet", "etcd", "trustd"] : ["apid", "cri", "kubelet"];
  const problems = [
    ...needed.filter((id) => machine.services[id]?.state !== "Running").map((id) => `${id} not running`),
    ...needed
      .filter((id) => machine.services[id]?.state === "Running" && machine.services[id].isHealthy === false)
      .map((id) => `${id} not healthy`),
  ];
  if (problems.length > 0) unmet.push({ name: "services", reason: problems.join(", ") });
  if (isControlPlane(machine) && machine.services["etcd"]?.isHealthy === true && !machine.kubernetes.hasStaticPods) {
    unmet.push({ name: "staticPods", reason: `kube-system/kube-apiserver-${nodenameOf(machine)} not ready` });
  }
  if (!machine.kubernetes.isNodeRegistered)
    unmet.push({ name: "nodeReady", reason: `node "${nodenameOf(machine)}" status is not available yet` });
  else if (!machine.kubernetes.isNodeReady) unmet.push({ name: "nodeReady", reason: `node "${nodenameOf(machine)}" is not ready` });
  return unmet;
}
