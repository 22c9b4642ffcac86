import { nextRoute } from "../../config/compare.ts";
import { configHashOf } from "./config-hash.ts";
import { heldBack } from "./hazards.ts";
import { isReadyNode } from "../../assess/machine-state.ts";
import { intentOn, machineFact, mayHoldConfig } from "../../record/facts.ts";
import { isMadeAnew } from "../../observe/reported-machines.ts";
import { failureWords } from "../../report/failures.ts";
import { asMade } from "../../spec/fixed-properties.ts";
import { metaSettings, metaState, wantedMeta } from "./meta-plan.ts";
import { platformOf } from "./platform-of.ts";
import { oldestReader, unreadBy } from "../../spec/unread.ts";
import type { KnownConfig } from "../../model/config.ts";
import type { ClusterFacts, MachineFact } from "../../model/record.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { ChangeRoute, ConfigPlan, ConfigState } from "../../model/plans.ts";

/** Where every machine of the cluster stands, control planes first. Empty while the cluster is not bootstrapped, or its spec cannot be used. */
export function planConfigs(seen: Observed, facts: ClusterFacts): readonly ConfigPlan[] {
  const { spec } = seen.controlPlane;
  if (spec === undefined || seen.problems.length > 0 || facts.bootstrapDone === undefined) return [];
  const asItWasMade = asMade(spec, facts);
  const reader = oldestReader(seen, facts);
  return seen.machines
    .toSorted((a, b) => weight(a) - weight(b))
    .flatMap((machine) => {
      const fact = machineFact(facts, machine.declared.name);
      if (!mayHoldConfig(fact) || isOwnerGoing(seen, machine)) return [];
      if (machine.declared.isConfigUnknown === true) return [];
      const settings = configHashOf(machine.declared, asItWasMade, facts);
      const state = stateOf({ seen, facts, reader }, machine, fact, settings);
      const meta =
        state.kind === "settled" || state.kind === "unknown" ? metaStateOf({ seen, facts, reader }, machine, fact, state) : undefined;
      return [{ machine, fact, settings: meta === undefined ? settings : metaSettings(meta.wanted), state: meta?.state ?? state }];
    });
}

/** What is to be done about the META of a machine whose configuration is settled, or unknown. */
function metaStateOf(
  { seen, facts }: Around,
  { declared, look }: SeenMachine,
  fact: MachineFact,
  { kind }: ConfigState,
): { readonly wanted: string; readonly state: ConfigState } | undefined {
  if (declared.machineSpec.meta?.hostname !== undefined && seen.sharedNodeNames?.has(declared.name) === true) return undefined;
  const wanted = wantedMeta(declared, platformOf(look, fact));
  const config = seen.configs?.get(declared.name);
  const state =
    declared.problem === undefined
      ? metaState(fact, wanted, kind === "settled" && config?.kind === "known" ? config : undefined)
      : undefined;
  if (state?.kind !== "change") return state === undefined ? undefined : { wanted: wanted.hash, state };
  return { wanted: wanted.hash, state: guarded(facts, metaSettings(wanted.hash), state, state.config.meta?.hazards) };
}

interface Around {
  readonly seen: Observed;
  readonly facts: ClusterFacts;
  /** {@link oldestReader} */
  readonly reader: string | undefined;
}

function stateOf({ seen, facts, reader }: Around, machine: SeenMachine, fact: MachineFact, settings: string): ConfigState {
  const intent = intentOn(facts, machine.declared.name);
  if (intent !== undefined) return { kind: "under-way", intent };
  const config = seen.configs?.get(machine.declared.name) ?? { kind: "unknown", detail: "not read yet" };
  const failed = fact.failed?.configHash === settings && fact.failed.tries === undefined ? fact.failed : undefined;
  if (config.kind === "unknown" || config.settings !== settings)
    return failed === undefined
      ? { kind: "unknown", detail: config.kind === "unknown" ? config.detail : "not read yet" }
      : { kind: "failed", failure: failed };
  const isSame = config.changes.length === 0;
  const { staged, failed: _failed, ...rest } = fact;
  const learned = (why: string): ConfigState => ({
    kind: "learn",
    next: {
      ...rest,
      ...(config.contract === undefined ? {} : { contract: config.contract }),
      configHash: settings,
      appliedHash: config.activeHash,
    },
    why,
  });

  if (staged?.configHash === settings) {
    // Another release may render the settings otherwise than the one that staged them.
    const isStagedText = (hash: string | undefined): boolean => hash !== undefined && hash === staged.textHash;
    if (config.bootId !== staged.bootId) {
      // One that did not come back well is not forgotten because its configuration is in force.
      if ((isSame || isStagedText(config.activeHash)) && (failed === undefined || isReadyNode(machine)))
        return learned("The machine was booted, and the staged configuration is in force.");
      if (failed !== undefined) return { kind: "failed", failure: failed };
      const why = failureWords.otherAfterBoot();
      return { kind: "learn", next: { ...rest, failed: { configHash: settings, kind: "unknown", why } }, why };
    }
    if (failed !== undefined) return { kind: "failed", failure: failed };
    // Somebody else may have put another one on the disk meanwhile: a boot would bring that.
    const isOnDisk = config.onDisk === "wanted" || config.onDisk === "unknown" || isStagedText(config.diskHash);
    if (isOnDisk && !isSame) return guarded(facts, settings, { kind: "staged", config });
  }
  if (failed !== undefined && !(isSame && config.onDisk !== "other")) return { kind: "failed", failure: failed };
  if (fact.configHash === undefined) return learned("Its configuration counts as applied for the settings of now.");
  // Settings that came and went while the first configuration was sent, or while the record was away: which of them arrived, nobody wrote down.
  const mayBeOthers = fact.appliedHash === undefined && (wasConfiguredHere(fact) || isMadeAnew(facts)) && !isSame;
  // What was staged and is not wanted any more is still on the disk.
  if (fact.configHash !== settings || staged !== undefined || mayBeOthers) {
    if (isSame && (config.onDisk === "wanted" || (config.onDisk === "unknown" && staged === undefined)))
      return learned("The machine runs these settings already.");
    if (isSame) return { kind: "change", route: "rewrite", config };
    const taken = takenName(seen, machine, config);
    if (taken !== undefined) return { kind: "held", why: taken, isName: true };
    const why = reader === undefined ? undefined : unreadWords(seen, facts, machine, reader);
    if (why !== undefined) return { kind: "held", why };
    const route = nextRoute(config);
    return route === "never" || route === "none" ? { kind: "never", config } : guarded(facts, settings, { kind: "change", route, config });
  }
  if (fact.appliedHash === undefined) return learned("Its configuration was read for the first time.");
  if (config.onDisk === "other") return { kind: "drifted", config };
  if (isSame)
    return config.activeHash === fact.appliedHash ? { kind: "settled", otherwise: [] } : learned("It means the same as what was applied.");
  return config.activeHash === fact.appliedHash ? { kind: "settled", otherwise: config.changes } : { kind: "drifted", config };
}

/** The state, unless what is to be sent or booted has a hazard that a person was not asked about: whoever is shut out of a machine cannot bring it back. */
function guarded(
  facts: ClusterFacts,
  settings: string,
  state: Extract<ConfigState, { readonly kind: "change" | "staged" }>,
  found = state.config.hazards,
): ConfigState {
  const hazards = heldBack(facts, settings, found);
  return hazards.length === 0 ? state : { kind: "hazard", config: state.config, hazards };
}

/** Why a host name is not sent that another machine has, or is to have: two kubelets would write one Node in turns. */
function takenName({ sharedNodeNames }: Observed, { declared }: SeenMachine, { changes }: KnownConfig): string | undefined {
  const isAboutName = changes.some(({ document, path }) => /hostname/i.test(`${document} ${path}`));
  return isAboutName ? sharedNodeNames?.get(declared.name) : undefined;
}

/** Why these settings wait for the end of an upgrade: one that failed would leave the machine with a configuration that it cannot read. */
function unreadWords(seen: Observed, facts: ClusterFacts, { declared, look }: SeenMachine, reader: string): string | undefined {
  const platform = look.kind === "running" ? look.platform : undefined;
  const words = unreadBy(reader, declared, seen.controlPlane, facts, platform);
  return words === undefined ? undefined : `Talos ${reader} does not read it: ${words}`;
}

/** Its first configuration came from this operator, by a release that compares what it sends with what runs. */
function wasConfiguredHere({ spki, contract }: MachineFact): boolean {
  return spki !== undefined && contract !== undefined;
}

/** How the wanted settings get onto a machine in this state; `undefined` = by no effect. */
export function routeOfState(state: ConfigState): ChangeRoute | undefined {
  if (state.kind === "change") return state.route;
  if (state.kind !== "drifted") return undefined;
  if (state.part === "meta") return "meta";
  const route = nextRoute(state.config);
  return route === "none" ? "rewrite" : route === "never" ? undefined : route;
}

/** A pool that is being deleted is configured no more. */
function isOwnerGoing(seen: Observed, { declared: { owner } }: SeenMachine): boolean {
  if (seen.controlPlane.metadata.deletionTimestamp !== undefined) return true;
  return (
    owner.kind === "TalosWorker" &&
    seen.workers.some((worker) => worker.metadata.name === owner.name && worker.metadata.deletionTimestamp !== undefined)
  );
}

function weight({ declared }: SeenMachine): number {
  return declared.role === "controlplane" ? 0 : 1;
}
