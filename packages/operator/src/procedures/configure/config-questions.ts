import { hash } from "node:crypto";
import type { TalosControlPlane } from "@talos-operator/api";
import { certificateHosts, endpointOf, keptOf } from "../../config/endpoints.ts";
import { configHashOf } from "./config-hash.ts";
import { intentOn, machineFact, mayHoldConfig } from "../../record/facts.ts";
import { onceFor } from "../../assess/once.ts";
import { asksAnotherTalos } from "../../planning/upgrade-plan.ts";
import { asMade } from "../../spec/fixed-properties.ts";
import type { ConfigWish } from "./live-configs.ts";
import { brokenBy } from "../upgrade/quarantine.ts";
import { concernsMeta, wantedMeta } from "./meta-plan.ts";
import { platformOf } from "./platform-of.ts";
import type { ConfigQuestion } from "./read-config.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { SeenMachine } from "../../model/observation.ts";
import { isUpgrade } from "../../record/upgrades.ts";

/** A configuration that is as it was left. */
const SETTLED_MS = 6 * 3_600_000;

/** While another Kubernetes is asked for: somebody may upgrade it by other means. */
const PENDING_MS = 10 * 60_000;

/** One that waits for a boot: somebody else may boot the machine. */
const STAGED_MS = 60_000;

/** While an effect on the machine is under way. */
const WATCHED_MS = 2_000;

/** Asks for the configuration of one machine after another. */
export type AskForConfig = (machine: SeenMachine) => ConfigQuestion | undefined;

/** The question to one machine: {@link configQuestions}. */
export function configQuestion(
  machine: SeenMachine,
  machines: readonly SeenMachine[],
  controlPlane: TalosControlPlane,
  facts: ClusterFacts,
): ConfigQuestion | undefined {
  return configQuestions(machines, controlPlane, facts)(machine);
}

/**
 * What is asked of running machines' configurations: to be compared with what their spec and the cluster's record ask for. `undefined` while nobody may ask:
 * the machine does not run, or was never configured by this cluster. What is the same for all of them is put together once.
 */
export function configQuestions(
  machines: readonly SeenMachine[],
  { spec, metadata }: TalosControlPlane,
  facts: ClusterFacts,
): AskForConfig {
  if (spec === undefined || facts.bootstrapDone === undefined) return () => undefined;
  const hosts = certificateHosts(facts);
  const named = machines.flatMap(({ declared }) => (declared.role === "controlplane" && declared.address !== "" ? [declared.address] : []));
  const known = facts.machines.filter((one) => one.role === "controlplane").map((one) => one.address);
  const made = asMade(spec, facts);
  const version = facts.talosVersion === "" ? made.version : facts.talosVersion;
  const common = { clusterName: metadata.name, controlPlane: { ...made, version } };
  const ofControlPlanes = [...new Set([...named, ...hosts])];
  // Earlier releases wrote an empty one for a control plane whose address was not known yet.
  const addresses = ["", ...named, ...known, ...hosts];
  const asked = spec.kubeVersion === facts.kubernetesVersion ? {} : { asked: spec.kubeVersion };
  return ({ declared, look }) => {
    const fact = machineFact(facts, declared.name);
    if (look.kind !== "running" || look.version === undefined) return undefined;
    if (!mayHoldConfig(fact)) return undefined;
    if (declared.isConfigUnknown === true) return undefined;
    // While it boots or installs, nothing that it shows lasts; but which of two Talos it boots. The boot of one that a Talos broke does not end.
    const isPassing = look.stage !== "running" && brokenBy(facts, { declared, look }) === undefined;
    if (isPassing && intentOn(facts, declared.name) === undefined && fact.installed === undefined) return undefined;
    const platform = platformOf(look, fact);
    const meta = wantedMeta(declared, platform);
    return {
      machine: declared.name,
      address: declared.address,
      uuid: fact.uuid,
      settings: configHashOf(declared, made, facts),
      contract: fact.contract,
      ...asked,
      ...upgradesOf(facts, { declared, look }),
      ...(concernsMeta(fact, meta) || intentOn(facts, declared.name, "WriteMeta") !== undefined ? { meta } : {}),
      addresses: new Set([...addresses, declared.address]),
      input: {
        ...common,
        role: declared.role,
        endpoint: endpointOf(declared.role, facts),
        kept: keptOf(declared.role, facts),
        machineSpec: declared.machineSpec,
        version: look.version,
        platform,
        installDisk: fact.installDisk,
        addresses: declared.role === "controlplane" ? ofControlPlanes : [declared.address],
      },
    };
  };
}

/** Another Talos is asked for, or is on the machine already. */
function upgradesOf(facts: ClusterFacts, machine: SeenMachine): Pick<ConfigQuestion, "upgrades"> {
  const { name } = machine.declared;
  if (isUpgrade(intentOn(facts, name))) return { upgrades: "open" };
  return asksAnotherTalos(machine) || machineFact(facts, name)?.installed !== undefined ? { upgrades: "asked" } : {};
}

/** True when nothing but the first reading itself asks for it: what was sent is what is wanted, and nothing is under way. */
export function isFirstReading(question: ConfigQuestion, facts: ClusterFacts): boolean {
  const fact = machineFact(facts, question.machine);
  if (fact === undefined || intentOn(facts, question.machine) !== undefined) return false;
  const isWanted = fact.configHash === question.settings && (question.meta === undefined || fact.metaHash === question.meta.hash);
  return isWanted && fact.appliedHash === undefined && fact.staged === undefined && fact.failed === undefined;
}

/** When the answer is needed. */
export function configWish(question: ConfigQuestion, facts: ClusterFacts): ConfigWish {
  const fact = machineFact(facts, question.machine);
  const intent = intentOn(facts, question.machine);
  const isUnderWay = intent?.what === "ApplyConfig" || intent?.what === "Reboot" || intent?.what === "WriteMeta" || isUpgrade(intent);
  return {
    machine: question.machine,
    question,
    key: keyOf(question),
    everyMs: isUnderWay
      ? WATCHED_MS
      : fact?.staged !== undefined || fact?.installed !== undefined
        ? STAGED_MS
        : question.asked === undefined && question.upgrades === undefined
          ? SETTLED_MS
          : PENDING_MS,
    isUrgent:
      isUnderWay ||
      question.upgrades !== undefined ||
      (question.meta !== undefined && fact?.metaHash !== question.meta.hash) ||
      fact?.staged !== undefined ||
      fact?.configHash !== question.settings ||
      fact.appliedHash === undefined,
  };
}

/** Everything that the comparison depends on. What many machines share is hashed once. */
function keyOf({ addresses, input: { machineSpec, controlPlane, ...input }, ...question }: ConfigQuestion): string {
  return JSON.stringify([question, input, [...addresses].toSorted(), hashOf(machineSpec), hashOf(controlPlane)]);
}

const hashOf = onceFor((settings: object) => hash("sha256", JSON.stringify(settings), "base64"));
