import { platformOf } from "../config-changes/platform-of.ts";
import { factsOf, machineFact } from "../record/facts.ts";
import type { Action, PlannedEffect } from "../../../model/effect.ts";
import type { MachineName } from "../../../model/machine.ts";
import type { Observed } from "../../../model/observation.ts";
import type { PlanStep } from "../../../model/decision.ts";

/** An action as a step of a plan, before neighbours are put together: the words take the names of all machines of the step. */
export interface StepWords {
  readonly effect: PlannedEffect;
  readonly action: string;
  /** The machine that it concerns, with what people recognise it by. */
  readonly machine?: MachineName;
  readonly named: string;
  /** The sentence for one or several that are alike. */
  readonly says: (named: string) => string;
}

/** Effects of kinds that say nothing more of themselves than their name; everything that is sent to a machine and not listed counts as a reboot. */
const effectOf: Readonly<Record<string, PlannedEffect>> = {
  RemoveMember: "membership",
  ForfeitLeadership: "membership",
  LeaveEtcd: "membership",
  CordonAndDrain: "drains",
  Uncordon: "drains",
  DeleteNode: "drains",
  KeepConfig: "live",
  RebootMachine: "reboot",
  WriteMeta: "live",
};

/** The machine says that it runs in a container. */
function isContainerHere(seen: Observed, name: MachineName): boolean {
  const look = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === name)?.look;
  return look !== undefined && platformOf(look, machineFact(factsOf(seen), name)) === "container";
}

/** A control plane that is reset gracefully leaves etcd by itself first. */
function isLeavingEtcd({ isGraceful, machine }: Extract<Action, { readonly kind: "ResetMachine" }>, seen: Observed): boolean {
  const target = [...seen.machines, ...seen.former].find(({ declared }) => declared.name === machine);
  return isGraceful === true && target?.declared.role === "controlplane";
}

/** What an action would do, in words. */
export function stepOf(action: Action, seen: Observed): StepWords {
  const stored = (named: string, says: StepWords["says"]): StepWords => ({ effect: "stored", action: action.kind, named, says });
  switch (action.kind) {
    case "AddFinalizer":
      return stored(`${action.object.kind}/${action.object.name}`, (named) => `Put the operator's finalizer on ${named}.`);
    case "RemoveFinalizer":
      return stored(
        `${action.object.kind}/${action.object.name}`,
        (named) => `Take the operator's finalizer off ${named}, so that it goes.`,
      );
    case "CreateMachine":
      return { ...stored(action.machine.name, (named) => `Make TalosMachine ${named}.`), machine: action.machine.name };
    case "DeleteMachine":
      return { ...stored(action.name, (named) => `Remove TalosMachine ${named}.`), machine: action.name };
    case "CreateBundle":
      return stored(action.secret, (named) => `Make the cluster's keys: Secret ${named}.`);
    case "TakeBundle":
      return stored(action.secret, (named) => `Copy the keys of the running cluster into Secret ${named}.`);
    case "WriteRecord":
      return stored(newDecisions(action, seen), (named) => `Write down in the ClusterRecord: ${named}.`);
    case "ConfigureMachine": {
      const { name, address, version } = action.machine;
      if (isContainerHere(seen, name))
        return {
          effect: "live",
          action: action.kind,
          machine: name,
          named: `${name} (${address}, Talos ${version})`,
          says: (named) => `Send the configuration to containers, where nothing is installed and no disk is overwritten: ${named}.`,
        };
      return {
        effect: "installs",
        action: action.kind,
        machine: name,
        named: `${name} (${address}, ${action.installDisk ?? "no disk"}, Talos ${version})`,
        says: (named) => `Send the configuration, which installs on the disk named and overwrites it: ${named}.`,
      };
    }
    case "BootstrapEtcd":
      return {
        effect: "bootstraps etcd",
        action: action.kind,
        machine: action.machine,
        named: `${action.machine} (${action.address})`,
        says: (named) => `Bootstrap etcd on ${named}, once in the life of the cluster.`,
      };
    case "WriteKubeconfig":
      return stored(action.secret, (named) => `Write the kubeconfig: Secret ${named}.`);
    case "WriteTalosconfig":
      return stored(action.secret, (named) => `Write the talosconfig: Secret ${named}.`);
    case "LeaveEtcd":
      return {
        effect: "membership",
        action: action.kind,
        machine: action.machine,
        named: `${action.machine} (${action.address})`,
        says: (named) => `Have ${named} leave etcd, before its container is stopped.`,
      };
    case "ResetMachine":
      if (isContainerHere(seen, action.machine))
        return {
          effect: "membership",
          action: action.kind,
          machine: action.machine,
          named: `${action.machine} (${action.address})`,
          says: (named) => `Stop the container of ${named}: nothing is wiped, and it is released when it does not answer any more.`,
        };
      return {
        effect: "destroys data",
        action: action.kind,
        machine: action.machine,
        named: `${action.machine} (${action.address})`,
        says: (named) =>
          `${action.leavesEtcd === true || isLeavingEtcd(action, seen) ? `Have ${named} leave etcd, then wipe it` : `Wipe ${named}`}: all its data is lost; it is released when it answers in maintenance mode.`,
      };
    case "AnswerAnnotation":
      return stored(action.annotation, (named) => `Take off the annotation ${named}: it has acted.`);
    case "DeleteRecord":
      return stored("ClusterRecord", (named) => `Remove the ${named}.`);
    case "DeleteBundle":
      return stored(action.secret, (named) => `Remove the cluster's keys: Secret ${named}.`);
    case "ApplyConfig": {
      const config = seen.configs?.get(action.machine);
      const changes = config?.kind === "known" ? config.changes : [];
      const worst = gravest(changes.map(({ effect }) => effect));
      const paths = changes.slice(0, 8).map(({ document, path, effect }) => `${path === "" ? document : path} (${effect})`);
      return {
        effect: worst,
        action: action.kind,
        machine: action.machine,
        named: `${action.machine}: ${paths.length === 0 ? "its settings" : paths.join(", ")}`,
        says: (named) =>
          `Send the changed configuration, one node at a time${action.mode === "staged" ? ", in force after its boot" : ""}: ${named}.`,
      };
    }
    case "FollowEndpoint":
      return { ...stored(action.name, (named) => `Write the new address into TalosMachine ${named}.`), machine: action.name };
    case "CordonAndDrain":
      return {
        effect: "drains",
        action: action.kind,
        machine: action.machine,
        named: action.machine,
        says: (named) => `Cordon and drain the Node of ${named}, within the PodDisruptionBudgets.`,
      };
    case "DeleteNode":
      return {
        effect: "drains",
        action: action.kind,
        machine: action.machine,
        named: action.machine,
        says: (named) => `Delete the Node of ${named}.`,
      };
    case "LookAtNodes":
      return stored("the cluster", (named) => `List the Nodes of ${named}.`);
    case "TendCertificates":
      return stored("the cluster", (named) => `List the certificate requests of ${named}.`);
    default:
      return otherStep(action);
  }
}

/** An action of a rule that says no more about itself than its kind and machine. */
function otherStep(action: { readonly kind: string; readonly machine?: unknown; readonly effect?: unknown }): StepWords {
  const { kind, machine, effect } = action;
  const name = typeof machine === "string" ? machine : nameIn(machine);
  return {
    effect: isPlanned(effect) ? effect : (effectOf[kind] ?? "reboot"),
    action: kind,
    ...(name === undefined ? {} : { machine: name }),
    named: name ?? "the cluster",
    says: (named) => `${wordsOf(kind)}: ${named}.`,
  };
}

/** Of several changes the one that costs most. */
function gravest(effects: readonly string[]): PlannedEffect {
  if (effects.includes("destroys-data")) return "destroys data";
  if (effects.includes("reinstall")) return "reinstall";
  if (effects.some((effect) => effect === "reboot" || effect === "unknown" || effect === "forbidden")) return "reboot";
  return effects.includes("restarts-service") ? "service restart" : "live";
}

function nameIn(value: unknown): string | undefined {
  return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string" ? value.name : undefined;
}

function isPlanned(effect: unknown): effect is PlannedEffect {
  return effect === "live" || effect === "service restart" || effect === "reboot" || effect === "reinstall" || effect === "destroys data";
}

/** `CordonAndDrain` → `Cordon and drain`. */
function wordsOf(kind: string): string {
  const [first = "", ...rest] = kind.split(/(?=[A-Z])/);
  return [first, ...rest.map((word) => word.toLowerCase())].join(" ");
}

/** What the record would get to remember, each kind of decision once. */
function newDecisions(action: Extract<Action, { readonly kind: "WriteRecord" }>, seen: Observed): string {
  const before = new Set(seen.record.kind === "present" ? seen.record.value.facts.decisions : []);
  const words = action.facts.decisions
    .filter((decision) => !before.has(decision))
    .map(({ action: what, reason, machine }) => `${what}${machine === undefined ? "" : ` ${machine}`} (${reason})`);
  return words.length === 0 ? action.why : [...new Set(words)].join(", ");
}

/** Neighbours of one kind and effect as one step. */
export function joined(steps: readonly (StepWords & { readonly quorum?: string })[]): readonly PlanStep[] {
  const groups: (StepWords & { readonly quorum?: string })[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (last?.[0] !== undefined && last[0].action === step.action && last[0].effect === step.effect && step.action !== "WriteRecord")
      last.push(step);
    else groups.push([step]);
  }
  return groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return [
      {
        effect: first.effect,
        action: first.action,
        machines: group.flatMap(({ machine }) => machine ?? []),
        says: first.says(group.map(({ named }) => named).join(", ")),
        ...(first.quorum === undefined ? {} : { quorum: first.quorum }),
      },
    ];
  });
}
