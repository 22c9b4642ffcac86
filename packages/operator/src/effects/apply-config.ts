import { nextRoute, routeOf } from "../config/compare.ts";
import { EffectError } from "../errors.ts";
import { TRY_MS } from "../procedures/configure/config-intents.ts";
import { codesOf, heldBack } from "../procedures/configure/hazards.ts";
import { largerQuotaOf } from "../procedures/configure/larger-quota.ts";
import { renamingOf, renamingWords } from "../procedures/configure/renaming.ts";
import { known, withConfig, withEtcdOf, withFact } from "../planning/afterwards-machines.ts";
import { withRenamedNode } from "../planning/afterwards-nodes.ts";
import { onMachine } from "../planning/step-of.ts";
import { intentOn } from "../record/facts.ts";
import type { PlannedEffect } from "../model/effect.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import { always, where } from "./define.ts";
import { inTime } from "./demand-in-time.ts";
import { ownMember, quorumWithout } from "./demand-quorum.ts";
import { howNow, onRunningMachine } from "./on-running-machine.ts";
import { declaredSettings, questionNow, readingNow, recordedMachine } from "./reading-now.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";
import type { Connected } from "./send-to-machine.ts";

interface ApplyConfig {
  readonly machine: MachineName;
  readonly address: string;
  readonly ifUuid: string;
  readonly mode: "try" | "staged" | "no-reboot";
  /** Hash of the settings. */
  readonly settings: string;
  readonly ifActiveHash: string;
  /** Its boot brings the space that an etcd without any waits for: no part of it is tried first. */
  readonly isForSpace?: true;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Only to the configuration that the decision was made on, and only while the record holds this very intent. */
    ApplyConfig: ApplyConfig;
  }
}

/**
 * Sends a running machine the configuration that its settings ask for, in the mode of the intent that stands in the record.
 *
 * On the connection of the send: the machine is the one that was written down, its configuration is the one that the decision was made on, and the change is
 * still of the kind that the mode is for. A trial is sent once; if its reply is lost, what the machine runs when the trial is over tells.
 */
export const applyConfig = defineSend("ApplyConfig", {
  inventory: "T3",
  ...toMachine,
  disrupts: "machine",
  goesTogether: true,
  intent: "ApplyConfig",
  ...onRunningMachine("ApplyConfig", always(0)),
  checks: {
    declaredSettings,
    sameMachine: recordedMachine,
    seenConfig: async (connected) => {
      const { seen } = await connected.ask(readingNow);
      if (seen.activeHash !== connected.action.ifActiveHash)
        throw new EffectError("PRECONDITION_GONE", "its configuration changed meanwhile");
    },
    fittingMode: async (connected) => {
      const { seen } = await connected.ask(readingNow);
      const route = connected.action.isForSpace === true ? routeOf(seen.changes) : nextRoute(seen);
      const fits = { try: route === "guarded", staged: route === "reboot", "no-reboot": route === "none" }[connected.action.mode];
      if (!fits) throw new EffectError("PRECONDITION_GONE", "another kind of change is needed by now");
    },
    hazards: async (connected) => {
      const { hazards } = (await connected.ask(readingNow)).seen;
      const held = heldBack(connected.effects.facts(), connected.action.settings, hazards);
      if (held.length > 0) throw new EffectError("PRECONDITION_GONE", `nobody accepted ${codesOf(held).join(", ")}`);
    },
    // What is tried may stop its etcd for a while; what only the disk takes disturbs nobody.
    ...where(
      (connected: Connected<ApplyConfig>) => connected.action.mode === "try" && connected.ask(questionNow)?.input.role === "controlplane",
      { ownMember, ...quorumWithout("is-down") },
    ),
  },
  record: {
    settings: (facts, { machine, settings }) => intentOn(facts, machine, "ApplyConfig")?.configHash === settings,
    mode: (facts, { machine, mode }) => intentOn(facts, machine, "ApplyConfig")?.applyMode === mode,
    uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "ApplyConfig")?.uuid === ifUuid,
  },
  late: { inTime: inTime("ApplyConfig") },
  doing: "Sending a changed configuration",
  async send(connected, options) {
    const { client, action } = connected;
    const { wanted, firstPart } = await connected.ask(readingNow);
    const tried = action.mode === "try" ? { tryTimeoutMs: TRY_MS } : {};
    const config = action.mode === "try" ? (firstPart ?? wanted) : wanted;
    await client.applyConfiguration({ config, mode: action.mode, ...tried }, options);
  },
  known: async (connected) => ({ ...howNow(connected), ranBefore: (await connected.ask(readingNow)).seen.activeHash }),
  step({ machine, mode }, seen) {
    const config = seen.configs?.get(machine);
    const changes = config?.kind === "known" ? (config.firstPart ?? config.changes) : [];
    const look = seen.machines.find(({ declared }) => declared.name === machine)?.look;
    const renaming = look === undefined || config?.kind !== "known" ? undefined : renamingOf(look, config);
    const paths = changes.slice(0, 8).map(({ document, path, effect }) => `${path === "" ? document : path} (${effect})`);
    return onMachine(
      gravest(changes.map(({ effect }) => effect)),
      machine,
      (named) => `Send the changed configuration, one node at a time${mode === "staged" ? ", in force after its boot" : ""}: ${named}.`,
      `${machine}: ${[...(renaming === undefined ? [] : [renamingWords(renaming)]), ...(paths.length === 0 ? ["its settings"] : paths)].join(", ")}`,
    );
  },
  afterwards(seen, { machine, settings, mode }) {
    if (mode === "try" && known(seen, machine).firstPart !== undefined) return withFirstPart(withOtherNode(seen, machine), machine);
    // What is staged is in force after its boot, which a plan takes along.
    const quotaBytes = largerQuotaOf(known(seen, machine));
    const larger = quotaBytes === undefined ? seen : withEtcdOf(seen, machine, (etcd) => ({ ...etcd, quotaBytes }));
    const renamed = mode === "try" ? withOtherNode(larger, machine) : larger;
    return withSettings(renamed, machine, settings, mode === "staged");
  },
});

/** The machine registers its Node under another name, and no kubelet reports for the one before. */
function withOtherNode(seen: Observed, machine: MachineName): Observed {
  const found = seen.machines.find(({ declared }) => declared.name === machine);
  const renaming = found === undefined ? undefined : renamingOf(found.look, known(seen, machine));
  return renaming?.to === undefined ? seen : withRenamedNode(seen, machine, renaming.to);
}

/** The machine runs these settings, or has them on its disk. */
export function withSettings(seen: Observed, machine: MachineName, settings: string, isStaged: boolean): Observed {
  const { firstPart: _tried, hazards: _hazards, ...config } = known(seen, machine);
  const next = withConfig(seen, machine, { ...config, settings, activeHash: settings, changes: [], onDisk: "wanted" });
  return withFact(next, machine, (fact) => {
    const { staged: _staged, failed: _failed, ...rest } = fact;
    return isStaged
      ? { ...rest, staged: { configHash: settings, bootId: config.bootId } }
      : { ...rest, configHash: settings, appliedHash: settings };
  });
}

/** It keeps what was tried first, and the rest still needs its boot. */
function withFirstPart(seen: Observed, machine: MachineName): Observed {
  const { firstPart = [], ...config } = known(seen, machine);
  const tried = new Set(firstPart.map(placeOf));
  const changes = config.changes.filter((change) => !tried.has(placeOf(change)));
  return withFact(withConfig(seen, machine, { ...config, changes, onDisk: "active" }), machine, (fact) => fact);
}

function placeOf({ document, path }: { readonly document: string; readonly path: string }): string {
  return `${document} ${path}`;
}

/** Of several changes the one that costs most. */
function gravest(effects: readonly string[]): PlannedEffect {
  if (effects.includes("destroys-data")) return "destroys data";
  if (effects.includes("reinstall")) return "reinstall";
  if (effects.some((effect) => effect === "reboot" || effect === "unknown" || effect === "forbidden")) return "reboot";
  return effects.includes("restarts-service") ? "service restart" : "live";
}
