import { silentForMs } from "../../looking/look.ts";
import { platformOf } from "../configure/platform-of.ts";
import type { Look, Silent } from "../../model/look.ts";
import type { MachineRole } from "../../model/machine.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../../model/record.ts";

/** A container that accepted its reset counts as stopped after so long without an answer. Milliseconds. */
const STOPPED_AFTER_MS = 20_000;

/** The same where nobody knows whether the reset was accepted: it may only be cut off for a moment. Milliseconds. */
const MISSED_AFTER_MS = 60_000;

/** One failed look is no stop. Milliseconds. */
const SILENT_AT_LEAST_MS = 4_000;

/** What a container's volumes still hold, for people. */
export const KEEPS_VOLUMES =
  "a reset wipes nothing in a container: its volumes keep this cluster's configuration and keys until they are deleted";

/**
 * The machine says that it runs in a container. Whatever `spec.mode` says: a reset stops it there, leaves etcd as it is, and wipes nothing.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/pkg/runtime/v1alpha1/v1alpha1_sequencer.go` Reset
 */
export function isContainer(look: Look, fact: MachineFact | undefined): boolean {
  return platformOf(look, fact) === "container";
}

/**
 * How the reset of a container ended that stands in the record, `undefined` = it has not ended yet.
 *
 * `stopped`: nobody answers any more, which is all that a reset does there. `started-again`: it did not answer after its reset, and runs again with its disk.
 */
export function endOfContainer(
  seen: Observed,
  { look }: Pick<SeenMachine, "look">,
  intent: IntentFact,
): "stopped" | "started-again" | undefined {
  if (look.kind === "running") return intent.stoppedAt === undefined ? undefined : "started-again";
  if (!isPlainlySilent(look)) return undefined;
  const isAccepted = seen.sent.get(`Reset/${intent.machine}`)?.outcome === "answered";
  return silentForMs(look) >= (isAccepted ? STOPPED_AFTER_MS : MISSED_AFTER_MS) ? "stopped" : undefined;
}

/** A container that was asked to stop does not answer any more. The moment is written down: when it answers again, somebody started it. */
export function isStop(seen: Observed, { look }: Pick<SeenMachine, "look">, intent: IntentFact): boolean {
  return (
    intent.stoppedAt === undefined &&
    isPlainlySilent(look) &&
    silentForMs(look) >= SILENT_AT_LEAST_MS &&
    seen.sent.has(`Reset/${intent.machine}`)
  );
}

/** The facts with that moment. */
export function withStop(seen: Observed, facts: ClusterFacts, machine: Pick<SeenMachine, "look">, intent: IntentFact): ClusterFacts {
  if (!isStop(seen, machine, intent)) return facts;
  return {
    ...facts,
    intents: facts.intents.map((one) =>
      one.machine === intent.machine && one.what === intent.what ? { ...intent, stoppedAt: seen.now } : one,
    ),
  };
}

/** How a container that was told to stop is told of: the silence that proves it comes once for each control plane. */
export function wordsOfStop(name: string, role: MachineRole): string {
  const turns = role === "controlplane" ? ", one control plane after the other" : "";
  return `${name} is being stopped; it is released after ${STOPPED_AFTER_MS / 1_000} s or more without an answer${turns}: ${KEEPS_VOLUMES}.`;
}

/** How a machine that is released without a wipe is told of. */
export function wordsOfEnd(name: string, end: "stopped" | "started-again"): string {
  return end === "stopped"
    ? `${name} is stopped and released: ${KEEPS_VOLUMES}. Delete its container and its volumes.`
    : `${name} was stopped by its reset, and somebody started its container again with its disk; it is released as it runs, for ${KEEPS_VOLUMES}. Delete its container and its volumes.`;
}

/** Nothing answers, and nobody knows a reason but that the machine is off or cut off. */
function isPlainlySilent(look: Look): look is Silent {
  return look.kind === "silent" && look.stopped === undefined;
}
