import { conditionFor } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";
import { dump } from "js-yaml";
import type { Results } from "../../results/results.ts";
import type { ControllerPorts } from "../../controllers/shared/controller-ports.ts";
import { wordsOf } from "./apply-machines.ts";
import { countOf } from "../../report/listed.ts";
import type { Decision, Seen } from "./model.ts";

/** Writes the manifests of a cluster's Machines to files for people. A file that cannot be written holds nothing up. */
export interface FileKeeper {
  /** @returns what is to be said of it */
  keep(decision: Decision, seen: Seen): Promise<readonly ConditionInput[]>;
  /** Takes the files of a cluster away that is gone. */
  remove(seen: Seen): Promise<void>;
}

/** The file system hangs. */
const NO_ANSWER = "NO_ANSWER";

/** @param results without it no files are written, and the condition FilesGenerated says so */
export function createFileKeeper(results: Results | undefined, { figures, log }: Pick<ControllerPorts, "figures" | "log">): FileKeeper {
  return {
    async keep({ files }, { cluster, model }) {
      if (files === undefined || model === undefined) return [];
      const say = (reason: "GenerationSucceeded" | "GenerationFailed" | "NotConfigured", message: string): readonly ConditionInput[] => [
        conditionFor("FilesGenerated", reason, message, cluster.metadata.generation),
      ];
      if (results === undefined) return say("NotConfigured", "RESULTS_PATH is empty: no files are written.");
      const { namespace = "", uid = "" } = cluster.metadata;
      try {
        const texts = new Map(
          files.map((manifest) => [`${manifest.metadata.name}.yaml`, dump(manifest, { lineWidth: -1, noRefs: true })] as const),
        );
        const place = await results.keep({ namespace, name: model.name, uid }, texts);
        return say(
          "GenerationSucceeded",
          [`${countOf(files.length, "manifest")} in ${place.folder}.`, place.remark].filter((text) => text !== undefined).join(" "),
        );
      } catch (thrown) {
        figures?.failed("KubernetesCluster", "FileSystemError");
        return say(
          "GenerationFailed",
          `The files of this cluster could not be written: ${codeOf(thrown) === NO_ANSWER ? "their file system does not answer" : codeOf(thrown)}. The cluster goes on without them.`,
        );
      }
    },
    async remove({ cluster, model }) {
      const { namespace = "", uid = "", name } = cluster.metadata;
      try {
        await results?.remove({ namespace, name: model?.name ?? name, uid });
      } catch (thrown) {
        // Files are for people: those that cannot be removed do not keep a cluster.
        log.warn({ namespace, name, err: thrown }, "The files of a cluster that is gone could not be removed");
      }
    },
  };
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : wordsOf(thrown);
}
