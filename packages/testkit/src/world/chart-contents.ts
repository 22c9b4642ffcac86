import { isManifestsTask } from "@talos-operator/helm";
import type { HelmTask, WorkloadRef } from "@talos-operator/helm";
import type { AddonRunner } from "@talos-operator/operator";

/** What charts hold, and where it goes: the cluster that a run is for. */
export interface ChartContents {
  /** The objects of a revision. @returns those of them that are looked at for health */
  install(task: HelmTask): Promise<readonly WorkloadRef[]>;
  uninstall(task: HelmTask): Promise<void>;
}

type Look = Awaited<ReturnType<AddonRunner["look"]>>;

/** A runner whose charts hold something: what a run that ended well installs is there before anybody hears of its end. The simulated Helm's own charts are empty. */
export function withContents(runner: AddonRunner, contents: ChartContents): AddonRunner {
  const tasks = new Map<string, HelmTask>();
  const told = new Map<string, Look>();
  const carriedOut = async (task: HelmTask, look: Look): Promise<Look> => {
    if (look.kind !== "ended") return look;
    const { result } = look;
    if (result?.kind === "uninstalled") await contents.uninstall(task);
    if (result?.kind !== "applied") return look;
    const workloads = await contents.install(task);
    return { ...look, result: { ...result, objects: { total: workloads.length, workloads } } };
  };
  return {
    ...runner,
    async start(request) {
      if (!isManifestsTask(request.task)) tasks.set(request.name, request.task);
      await runner.start(request);
    },
    async look(name) {
      const look = await runner.look(name);
      const task = tasks.get(name);
      if (look.kind !== "ended" || task === undefined) return look;
      const known = told.get(name) ?? (await carriedOut(task, look));
      told.set(name, known);
      return known;
    },
  };
}
