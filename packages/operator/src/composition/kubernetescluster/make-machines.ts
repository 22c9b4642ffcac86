import { conditionFor } from "@talos-operator/api";
import type { ConditionInput, KubernetesCluster } from "@talos-operator/api";
import { keyText } from "@talos-operator/kube-runtime";
import type { ReconcileContext } from "@talos-operator/kube-runtime";
import type { ControllerPorts } from "../../controllers/shared/controller-ports.ts";
import { createMachineApplier, wordsOf } from "./apply-machines.ts";
import { CompositionError } from "./errors.ts";
import { clusterAnnotations, machineLabels } from "./keys.ts";
import { countOf } from "../../report/listed.ts";
import type { Decision, MachineManifest, Seen } from "./model.ts";
import type { CompositionCaches } from "./observe.ts";
import type { OwnerQuestion } from "./live-cluster.ts";

/** Machines that are applied at once. */
const APPLIES_AT_ONCE = 8;

/** What became of a cluster's Machines. */
export interface MadeMachines {
  readonly conditions: readonly ConditionInput[];
  readonly failure?: CompositionError;
}

/** Makes the Machines that a decision asks for, and says what became of it. */
export interface MachineMaker {
  make(decision: Decision, seen: Seen, isOwnerThere: OwnerQuestion, context: ReconcileContext): Promise<MadeMachines>;
  /** The cluster is gone. @param cluster `namespace/name` */
  forget(cluster: string): void;
}

export function createMachineMaker({
  client,
  figures,
  vitistackMachines,
}: Pick<ControllerPorts, "client" | "figures"> & Pick<CompositionCaches, "vitistackMachines">): MachineMaker {
  const applier = createMachineApplier(client);
  const warned = new Map<string, string>();

  /** Said when it is found and again when it changed, not at each pass (A068). */
  const warnOnce = ({ metadata }: KubernetesCluster, words: string | undefined, context: ReconcileContext): void => {
    if (words === warned.get(keyText(metadata))) return;
    if (words === undefined) warned.delete(keyText(metadata));
    else {
      warned.set(keyText(metadata), words);
      context.log.warn({ reason: "NameConflict" }, words);
    }
  };

  return {
    async make(decision, { cluster, model, machines, isPausedAfterFiles }, isOwnerThere, context) {
      const generation = cluster.metadata.generation;
      if (decision.files === undefined) return { conditions: [] };
      if (isPausedAfterFiles)
        return {
          conditions: [
            conditionFor(
              "MachinesCreated",
              "WaitingForPerson",
              `The annotation ${clusterAnnotations.pauseAfterFiles} says so. Remove it to have the Machines made.`,
              generation,
            ),
          ],
        };
      const stored = new Map(machines.map((machine) => [machine.metadata.name, machine]));
      const one = async (manifest: MachineManifest): Promise<CompositionError | undefined> => {
        try {
          const there = stored.get(manifest.metadata.name);
          const result = await applier.apply(manifest, there, isOwnerThere);
          if (result !== undefined && there === undefined)
            figures?.machineGenerated(model?.name ?? cluster.metadata.name, manifest.metadata.labels?.[machineLabels.role] ?? "");
          if (result !== undefined) context.wrote(vitistackMachines, result);
          return undefined;
        } catch (thrown) {
          return thrown instanceof CompositionError
            ? thrown
            : new CompositionError("MachineCreationError", wordsOf(thrown), { cause: thrown });
        }
      };
      const errors: CompositionError[] = [];
      for (let index = 0; index < decision.apply.length; index += APPLIES_AT_ONCE) {
        const results = await Promise.all(decision.apply.slice(index, index + APPLIES_AT_ONCE).map(one));
        errors.push(...results.filter((error) => error !== undefined));
      }
      const [failure] = errors;
      const conflict = decision.conditions.find(({ reason }) => reason === "NameConflict");
      warnOnce(cluster, conflict?.message, context);
      const words = failure?.message ?? conflict?.message;
      if (words !== undefined)
        return {
          conditions: [conditionFor("MachinesCreated", "CreationFailed", `${words}.`.replace("..", "."), generation)],
          ...(failure === undefined ? {} : { failure }),
        };
      const made = countOf(decision.files.length, "Machine");
      const remark = applier.dropsTalosConfig() ? " The CRD of Machine that is installed drops spec.talosConfig." : "";
      return {
        conditions: [conditionFor("MachinesCreated", "CreationSucceeded", `${made} created.${remark}`, generation)],
      };
    },
    forget: (cluster) => void warned.delete(cluster),
  };
}
