import { controllerOf, finalizers, talosMachineResource } from "@talos-operator/api";
import type { ReconcileMode, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { createController, hasFinalizer, keyText, removeFinalizer, watchOf } from "@talos-operator/kube-runtime";
import type { Controller, ObjectKey } from "@talos-operator/kube-runtime";
import type { Brain } from "../../reconcilers/brain.ts";
import { commonOptions } from "../../controllers/shared/controller-ports.ts";
import type { ControllerPorts, TalosCaches } from "../../controllers/shared/controller-ports.ts";
import { judgedStatus } from "../../controllers/shared/kstatus.ts";
import { createMachineLabeller } from "../../controllers/shared/machine-labels.ts";
import { effectiveMode } from "../../controllers/shared/mode.ts";
import { annotationsChanged } from "../../controllers/shared/predicates.ts";
import { createStatusWriter } from "../../controllers/shared/status-writer.ts";
import type { Telling } from "../../telling/telling.ts";
import { placeOf, shownBy } from "./place.ts";
import { decideMachine } from "./decide.ts";
import { isLeftAlone } from "./left-alone.ts";
import { againWhilePaused } from "./while-paused.ts";
import { installsForMs } from "../../assess/machine-state.ts";
import { upgradeStageWord } from "../../report/upgrade-progress.ts";
import type { UpgradeProgress } from "../../report/upgrade-progress.ts";
import type { Look } from "../../model/look.ts";
import type { MachineFact } from "../../model/record.ts";

/** Reports follow looks after this pause, so that a machine that changes fast is written once. That it is a ready node is what everybody waits for. */
export function reportAfterMs(look: Look): number {
  return look.kind === "running" && look.ready ? 0 : REPORT_AFTER_MS;
}

const REPORT_AFTER_MS = 500;

/** Least pause between two reports about one machine, unless its state word changes. */
const REPORT_EVERY_MS = 2_000;

/** When a report turns without a look that shows anything else: a machine that installs is unreachable once it takes too long. */
function againAfterMs(look: Look, fact: MachineFact | undefined): number | undefined {
  const installsMs = installsForMs(look, fact);
  // A machine that is silent is looked at every now and then, and counts by the last look.
  return installsMs === undefined ? undefined : Math.max(installsMs, REPORT_EVERY_MS);
}

/** Which step of an upgrade a machine is in, in the words that fit into a column. */
function upgradeWords(upgrade: UpgradeProgress | undefined): string | undefined {
  if (upgrade === undefined || upgrade.stage === "Failed") return undefined;
  const word = upgradeStageWord(upgrade.stage);
  return `${word[0]?.toUpperCase() ?? ""}${word.slice(1)}: Talos ${upgrade.from} → ${upgrade.to}.`;
}

/** What the reporter needs. */
export interface MachineControllerOptions extends ControllerPorts, TalosCaches {
  readonly brain: Pick<Brain, "machine">;
  readonly events: Telling;
}

/** Observes and reports about machines, and labels their objects; sends them nothing. */
export function createMachineController(options: MachineControllerOptions): Controller {
  const { machines, controlPlanes, workers } = options;
  const machineClient = options.client.resource<TalosMachine>(talosMachineResource);
  const labeller = createMachineLabeller(machineClient, ({ metadata }) => keyText(metadata));
  const statuses = createStatusWriter<TalosMachine>(
    options.client,
    talosMachineResource,
    options.clock,
    "talos-operator/talosmachine",
    options.events,
  );

  const poolOf = (machine: TalosMachine): TalosControlPlane | TalosWorker | undefined => {
    const { namespace } = machine.metadata;
    const { controlPlaneRef, workerRef } = machine.spec ?? {};
    if (controlPlaneRef?.name !== undefined) return controlPlanes.store.get({ namespace, name: controlPlaneRef.name });
    return workerRef?.name === undefined ? undefined : workers.store.get({ namespace, name: workerRef.name });
  };
  /** The words that pause it; `import` pauses until the cluster has a record. */
  const pausedBy = (pool: TalosControlPlane | TalosWorker | undefined, machine: TalosMachine): readonly ReconcileMode[] =>
    [machine.metadata, ...(pool === undefined ? [] : [pool.metadata])].flatMap((metadata) => {
      const mode = effectiveMode(metadata, options.talosClusters.store);
      // A cluster that was taken over has a record; before that its objects are left to whoever made them.
      const isOver = mode === "reconcile" || (mode === "import" && options.brain.machine(machine.metadata)?.hasRecord === true);
      return isOver ? [] : [mode];
    });

  const clusterOf = (key: ObjectKey): string => {
    const { controlPlaneRef, workerRef } = machines.store.get(key)?.spec ?? {};
    const worker = workerRef?.name === undefined ? undefined : workers.store.get({ namespace: key.namespace, name: workerRef.name });
    return `${key.namespace ?? ""}/${controlPlaneRef?.name ?? worker?.spec?.controlPlaneRef?.name ?? ""}`;
  };

  const machinesOfControlPlane = (pool: ObjectKey): readonly ObjectKey[] =>
    machines.store.byIndex("controlPlane", keyText(pool)).map((machine) => machine.metadata);
  const machinesOfWorker = (pool: ObjectKey): readonly ObjectKey[] =>
    machines.store.byIndex("worker", keyText(pool)).map((machine) => machine.metadata);

  return createController({
    name: "talosmachine",
    // The machines of a large cluster must not hold up those of a small one.
    groupOf: clusterOf,
    ...commonOptions(options),
    reconcile: async (key: ObjectKey) => {
      const machine = machines.store.get(key);
      if (machine === undefined) {
        statuses.forget(keyText(key));
        labeller.forget(keyText(key));
        return undefined;
      }
      const pool = poolOf(machine);
      const paused = pausedBy(pool, machine);
      if (paused.length > 0) return againWhilePaused(paused);
      const isHeld = machine.metadata.deletionTimestamp !== undefined && hasFinalizer(machine, finalizers.talosMachine);
      if (isHeld && controllerOf(machine.metadata)?.uid !== pool?.metadata.uid && (await isLeftAlone(machine, options.client))) {
        await removeFinalizer(machineClient, machine, finalizers.talosMachine);
        return undefined;
      }
      const known = options.brain.machine(key);
      // Before the first look there is nothing to say that the next moment would not correct, and what an earlier process said may still hold.
      if ((known === undefined || known.look.kind === "not-asked") && pool !== undefined) return { requeueAfterMs: 2_000 };
      const { conditions, ...told } = decideMachine({
        look: { kind: "not-asked" },
        fact: undefined,
        hasRecord: false,
        ...known,
        machine,
        hasOwner: pool !== undefined,
        isPoolGoing: pool?.metadata.deletionTimestamp !== undefined,
      });
      const place = placeOf(machine, pool);
      const fields = {
        ...told,
        ...place,
        ...shownBy(machine, known?.look ?? { kind: "not-asked" }),
      };
      await labeller.label(machine, place);
      const requeueAfterMs = await statuses.write(
        machine,
        judgedStatus(machine, fields, { conditions, hasOpenEffect: known?.hasOpenEffect === true, says: upgradeWords(known?.upgrade) }),
        REPORT_EVERY_MS,
      );
      return { requeueAfterMs: requeueAfterMs ?? (known === undefined ? undefined : againAfterMs(known.look, known.fact)) };
    },
    watches: [
      watchOf({ informer: machines, why: "the machine is reported about", predicate: (delta) => !statuses.isOwn(delta) }),
      watchOf({
        informer: controlPlanes,
        why: "its machines are orphaned when it goes, and paused with it",
        predicate: annotationsChanged,
        map: (pool) => machinesOfControlPlane(pool.metadata),
      }),
      watchOf({
        informer: workers,
        why: "its machines are orphaned when it goes, and paused with it",
        predicate: annotationsChanged,
        map: (pool) => machinesOfWorker(pool.metadata),
      }),
      watchOf({
        informer: options.talosClusters,
        why: "its annotation may pause the machines of the pools it made",
        predicate: annotationsChanged,
        map: ({ metadata }) => [
          ...machinesOfControlPlane(metadata),
          ...workers.store.byIndex("controlPlane", keyText(metadata)).flatMap((worker) => machinesOfWorker(worker.metadata)),
        ],
      }),
    ],
  });
}
