import { annotations, bundleSecretName, conditionFor, rfc3339 } from "@talos-operator/api";
import type { ReasonOf } from "@talos-operator/api";
import { stateOf } from "../assess/machine-state.ts";
import { adopt } from "./adoption.ts";
import { controlPlanesOf, foundedBy } from "../assess/etcd-view.ts";
import { firstFacts } from "../procedures/join/first-facts.ts";
import { saysConfigured, signOfEarlierLife } from "../observe/reported-machines.ts";
import { givenSecretsName } from "../secrets/given-secrets.ts";
import { writtenConfig } from "../spec/written-config.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { Observed } from "../model/observation.ts";
import type { Rule } from "../model/decision.ts";
import type { Verdict, Waiting } from "../model/plans.ts";

/** What was sent may take effect so much later. */
const LATEST_EFFECT_MS = 11 * 60_000;

/** A Secret that is not there yet, or not sound, is looked at this often. */
const GIVEN_AGAIN_MS = 5_000;

const LOST_KEYS_REMEDY =
  "Restore both from a backup; the runbook secrets-lost says what is left without one. New keys would shut out machines that hold the old ones.";

/**
 * The secrets bundle exists once, and the record names it before any machine hears of it.
 *
 * The order that survives a crash at every point: Secret first (create-only, under a name that the next pass finds again), then the record,
 * then machines. Once the record names a bundle none is ever made: absent or different is a stop.
 */
export const keepKeys: Rule = {
  name: "keepKeys",
  decide(assessed) {
    const { seen } = assessed;
    const { record, bundle, controlPlane } = seen;
    if (record.kind === "unknown" && record.isNewer === true)
      return {
        actions: [],
        waiting: {
          reason: "RecordNewer",
          message: `The ClusterRecord cannot be acted on: ${record.detail}. Nothing is changed meanwhile.`,
        },
      };
    if (record.kind === "unknown") return unread(`The ClusterRecord cannot be read: ${record.detail}. The operator looks again.`);
    if (record.kind === "present") return checkKeys(seen, record.value.facts);
    if (bundle.kind === "unknown")
      return unread(`The bundle Secret cannot be read: ${bundle.detail}. Nothing is made while it is not known whether it exists.`);

    const secret = bundleSecretName(controlPlane.metadata.name, 1);
    if (bundle.kind === "absent") {
      const sign = signOfEarlierLife(seen);
      if (sign !== undefined)
        return lost(
          seen,
          "BundleMissing",
          `${sign}, but neither its ClusterRecord nor the Secret ${secret} is there. Restore them; keys are never made anew for a cluster that exists.`,
        );
      const holders = whoMayHoldLostKeys(seen);
      if (holders !== undefined)
        return lost(
          seen,
          "MachinesConfigured",
          `${holders} Neither the ClusterRecord nor the Secret ${secret} is there. ${LOST_KEYS_REMEDY}`,
        );
      const unusable = whyGivenAreUnusable(seen);
      if (unusable !== undefined) return { actions: [], waiting: unusable, requeueAfterMs: GIVEN_AGAIN_MS };
      const proof = whoMayRunWrittenKeys(seen);
      if (proof !== undefined) return { actions: [], waiting: proof };
      // Keys without a record are for whoever comes next those of a record that was lost.
      const waiting = endpointWaitsFor(seen);
      if (waiting !== undefined) return { actions: [], waiting };
      return {
        actions: [{ kind: "CreateBundle", secret }],
        waiting: { reason: "Composing", message: "The cluster's keys are being made." },
      };
    }
    const nowhere = endpointWaitsFor(seen);
    if (nowhere !== undefined) return { actions: [], waiting: nowhere };
    if (!bundle.value.isOurs)
      return lost(
        seen,
        "BundleUnreadable",
        `The Secret ${secret} exists and was not made by this operator. Remove or rename it if it is not this cluster's bundle.`,
      );
    const { keysElsewhere } = seen;
    if (keysElsewhere?.kind === "unknown")
      return unread(
        `Whether another cluster has the keys in the Secret ${secret} cannot be read: ${keysElsewhere.detail}. They are not used meanwhile.`,
      );
    if (keysElsewhere?.kind === "present")
      return lost(
        seen,
        "BundleOfAnother",
        `The Secret ${secret} holds the keys of ${keysElsewhere.value}, and two clusters never share them. Delete that Secret (take its finalizer off), and this cluster gets its own; if this cluster takes the place of that one, delete that ClusterRecord first.`,
      );
    const sign = signOfEarlierLife(seen);
    // A worker with these keys is not enough: where no control plane is known that has etcd, those that are new would found it again.
    if (sign !== undefined && foundedBy(controlPlanesOf(seen)) === undefined)
      return lost(
        seen,
        "BundleUnproven",
        `${sign}, its ClusterRecord is gone, and no control plane shows yet that it runs etcd with the keys in the Secret ${secret}. Bring one back, and list it again if it is not listed. If these are other keys, delete that Secret and restore the original, best together with the ClusterRecord.`,
      );
    return {
      actions: [
        { kind: "WriteRecord", ifResourceVersion: undefined, facts: firstFacts(assessed, secret, bundle.value), why: "FirstRecord" },
      ],
      waiting: { reason: "Composing", message: "The cluster's record is being made." },
    };
  },
};

function checkKeys(seen: Observed, facts: ClusterFacts): Verdict | undefined {
  const { bundle } = seen;
  const name = facts.bundle.secretName;
  if (bundle.kind === "unknown") return unread(`The bundle Secret ${name} cannot be read: ${bundle.detail}. Nothing is sent until it can.`);
  if (bundle.kind === "absent")
    return lost(
      seen,
      "BundleMissing",
      `The Secret ${name} with the cluster's keys is gone. Restore it from a backup; the operator never makes new keys for a cluster that exists.`,
    );
  if (bundle.value.fingerprint !== facts.bundle.fingerprint || bundle.value.clusterId !== facts.clusterId)
    return lost(
      seen,
      "BundleChanged",
      `The Secret ${name} does not hold the keys that the ClusterRecord names. Restore its original content.`,
    );
  return adopt(seen);
}

/** The endpoint is chosen once: where it is to be the first control plane's address, that must be known. */
function endpointWaitsFor(seen: Observed): Waiting | undefined {
  const { controlPlane, machines } = seen;
  const endpoint = controlPlane.spec?.endpoint ?? writtenConfig(seen)?.endpoint;
  if (endpoint !== undefined && endpoint !== "") return undefined;
  const first = machines.find((machine) => machine.declared.role === "controlplane")?.declared;
  if (first?.problem === undefined) return undefined;
  return {
    reason: first.problem.reason,
    message: `${first.name}: ${first.problem.message} Without spec.endpoint its address becomes the cluster's endpoint: name one, better one that does not move.`,
  };
}

/** Secrets that somebody gave are used or complained about, never left out: machines hold them for ever. */
function whyGivenAreUnusable({ given, controlPlane }: Observed): Waiting | undefined {
  if (given === undefined || given.kind === "absent") return undefined;
  const source = `Secret ${givenSecretsName(controlPlane.metadata) ?? ""}`;
  const say = (why: string): Waiting => ({
    reason: "GivenSecretsUnusable",
    message: `The keys of this cluster are to be made with what the ${source} gives, and ${why}. No keys are made until it has token, ca.crt and ca.key that belong together.`,
  });
  if (given.kind === "unknown") return say(`it cannot be read: ${given.detail}`);
  return given.value.problem === undefined ? undefined : say(given.value.problem);
}

/**
 * Keys in a config that a person wrote, or that somebody gave, may be those of a cluster that runs: they are taken for a new one only when every control plane waits to be configured.
 */
function whoMayRunWrittenKeys(seen: Observed): Waiting | undefined {
  const base = writtenConfig(seen);
  const source = base?.fingerprint === undefined ? (seen.given?.kind === "present" ? seen.given.value.source : undefined) : base.source;
  if (source === undefined) return undefined;
  const hidden = seen.machines.filter(({ declared, look }) => declared.role === "controlplane" && look.kind !== "maintenance");
  if (hidden.length === 0) return undefined;
  return {
    reason: "WaitingForMachines",
    message: `The keys in ${source} may be those of a cluster that runs. They are taken for a new one once every control plane waits in maintenance mode. Not yet: ${hidden.map((machine) => `${machine.declared.name} (${stateOf(machine)})`).join(", ")}. A running cluster is taken over with ${annotations.reconcileMode}: import.`,
  };
}

/**
 * Says who may hold a configuration with keys that are gone, or nothing.
 *
 * TalosMachines of this very object were made after its record, so there were keys once. What they say, and what machines show, decides: a machine
 * that waits in maintenance mode holds none. A configuration that was sent late may still be on its way there, so that is watched for a while.
 */
function whoMayHoldLostKeys(seen: Observed): string | undefined {
  const told = seen.machineObjects.filter(saysConfigured);
  const sent = seen.machines.filter(({ declared }) => seen.sent.has(`Configure/${declared.name}`));
  const configured = [...new Set([...told.map(({ metadata }) => metadata.name), ...sent.map(({ declared }) => declared.name)])];
  if (configured.length > 0) return `A configuration with this cluster's keys was sent to ${configured.join(", ")}.`;
  const { uid } = seen.controlPlane.metadata;
  const wasComposed = seen.machineObjects.some((object) =>
    object.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid),
  );
  if (!wasComposed) return undefined;
  const hidden = seen.machines.filter(({ look }) => look.kind !== "maintenance" && look.kind !== "not-talos");
  if (hidden.length > 0)
    return `This cluster had keys before, and these machines may hold them: ${hidden.map((machine) => `${machine.declared.name} (${stateOf(machine)})`).join(", ")}.`;
  const freeAt = seen.watchedSince + LATEST_EFFECT_MS;
  return seen.now >= freeAt
    ? undefined
    : `This cluster had keys before. All its machines wait in maintenance mode; if they still do at ${rfc3339(freeAt)}, none holds them and new ones are made.`;
}

function lost(seen: Observed, reason: ReasonOf<"SecretsLost">, message: string): Verdict {
  return {
    actions: [],
    waiting: { reason: "SecretsLost", message },
    conditions: [conditionFor("SecretsLost", reason, message, seen.controlPlane.metadata.generation)],
    requeueAfterMs: 15_000,
  };
}

function unread(message: string): Verdict {
  return { actions: [], waiting: { reason: "Unobserved", message }, requeueAfterMs: 2_000 };
}
