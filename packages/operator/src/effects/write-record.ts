import { isDeepStrictEqual } from "node:util";
import { clusterRecordResource } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import { isAlreadyExists, isConflict } from "@talos-operator/kube-runtime";
import { EffectError } from "../errors.ts";
import { usableBundle } from "../secrets/bundle-store.ts";
import { equip } from "../observe/fresh-copies.ts";
import { isMadeAnew } from "../observe/reported-machines.ts";
import { endpointStep } from "../planning/endpoint-step.ts";
import { machineFact } from "../record/facts.ts";
import { printRecord, readRecord } from "../record/facts-codec.ts";
import { replaceRecord } from "../record/replace-record.ts";
import type { ActionOf } from "../model/effect.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { ClusterFacts, MachineFact } from "../model/record.ts";
import { defineEffect } from "./define.ts";
import type { Effects } from "./ports.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** The whole next record; compare-and-swap on `ifResourceVersion`, `undefined` = create. */
    WriteRecord: { readonly ifResourceVersion: string | undefined; readonly facts: ClusterFacts; readonly why: string };
  }
}

/** Compare-and-swap of the whole record. What comes back is what the rest of the pass and the next one go on with. */
export const writeRecord = defineEffect("WriteRecord", {
  inventory: "K2",
  at: "objects",
  // An effect begins with its intent in the record.
  begins: begun,
  remembers: ({ facts, ifResourceVersion }, { record }) =>
    ifResourceVersion !== undefined && record.kind === "present" && isRemembered(record.value.facts, facts),
  disrupts: "nothing",
  before: {
    unpaused: async ({ action, effects }) => {
      await Promise.all(begun(action, effects.seen).map((machine) => effects.demandUnpaused(machine)));
    },
    keysBehind: async ({ action, effects }) => {
      if (action.ifResourceVersion === undefined) await demandBundle(action.facts.bundle, effects);
    },
  },
  async carryOut({ action, effects }) {
    const { client, seen, session, leading, clock } = effects;
    const { namespace = "", name } = seen.controlPlane.metadata;
    const records = client.resource<ClusterRecord>(clusterRecordResource);
    const before = session.record?.value;
    const writer = { identity: leading.identity, fencingToken: leading.fencingToken };
    const known = seen.record.kind === "present" ? seen.record.value.facts.intents : [];
    for (const intent of action.facts.intents) if (!known.includes(intent)) session.noteBegun(intent);
    try {
      const record = printRecord({ namespace, name }, action.facts, before === "absent" ? undefined : before, writer);
      const stored =
        action.ifResourceVersion === undefined || before === undefined || before === "absent"
          ? await records.create(record)
          : await replaceRecord(records, before, record);
      session.record = { at: clock.now(), value: stored };
      if (seen.record.kind === "present" && action.ifResourceVersion !== undefined) effects.written(seen.record.value.facts, action.facts);
      for (const { name, spki } of newlyPinned(action.facts, seen)) session.notePinned(name, spki);
      // Whatever record comes after this one did not come with new keys: machines may run that it does not know.
      session.forgetSent("CreateBundle");
      if (readRecord(stored) === undefined)
        throw new Error(`the API server dropped fields of ClusterRecord ${name}: install the CRDs of this release`);
      if (action.ifResourceVersion === undefined && session.credentialsFor?.fingerprint !== action.facts.bundle.fingerprint) {
        const bundle = await effects.bundles.read({ namespace, name: action.facts.bundle.secretName });
        if (bundle?.bundle !== undefined) await equip(session, usableBundle(bundle, action.facts.bundle), bundle.fingerprint, effects);
      }
    } catch (thrown) {
      session.record = undefined;
      if (isConflict(thrown) || isAlreadyExists(thrown))
        effects.log.debug({ action: "WriteRecord", reason: action.why }, "The record changed meanwhile; deciding anew");
      throw thrown;
    }
  },
  // What else it remembers is what the other steps do.
  step: ({ facts }, { record }) => endpointStep(record.kind === "present" ? record.value.facts : undefined, facts),
  afterwards(seen, { facts }) {
    const metadata = seen.record.kind === "present" ? seen.record.value.metadata : { name: seen.controlPlane.metadata.name };
    const resourceVersion = `${seen.record.kind === "present" ? seen.record.value.resourceVersion : "0"}+`;
    const { adoption: _taken, ...rest } = seen;
    return { ...rest, record: { kind: "present", value: { resourceVersion, metadata, facts } } };
  },
});

/** Nothing else differs than that etcd was bootstrapped, what machines run, which members they are, and why that is known: nothing is sent because of it alone. */
function isRemembered(before: ClusterFacts, after: ClusterFacts): boolean {
  const seenOf = ({ decisions: _why, bootstrapDone: _done, machines: _machines, ...rest }: ClusterFacts): unknown => rest;
  const ofMachine = ({ appliedHash: _runs, memberId: _member, ...rest }: MachineFact): unknown => rest;
  return (
    before.machines.length === after.machines.length &&
    after.machines.every((fact, index) => {
      const known = before.machines[index];
      return known === fact || (known !== undefined && isDeepStrictEqual(ofMachine(known), ofMachine(fact)));
    }) &&
    isDeepStrictEqual(seenOf(before), seenOf(after))
  );
}

/** Machines with an intent that the record does not hold yet. */
function begun({ facts }: Pick<ActionOf<"WriteRecord">, "facts">, { record }: Observed): readonly MachineName[] {
  const open = new Set(record.kind === "present" ? record.value.facts.intents.map(({ machine }) => machine) : []);
  return facts.intents.map(({ machine }) => machine).filter((machine) => !open.has(machine));
}

/** Machines that the record names for the first time, or with another key. To those of a record that was made anew others may have sent something. */
function newlyPinned(facts: ClusterFacts, { record }: Observed): readonly { readonly name: MachineName; readonly spki: string }[] {
  if (isMadeAnew(facts)) return [];
  const before = record.kind === "present" ? record.value.facts : undefined;
  return facts.machines.flatMap(({ name, spki }) =>
    spki === undefined || machineFact(before, name)?.spki === spki ? [] : [{ name, spki }],
  );
}

/**
 * A first record names keys that are there now. Keys that this process did not make were seen a while ago: record and Secret may have been taken away
 * together, and a record made from memory would stand in the way of whoever restores them.
 *
 * @throws EffectError `PRECONDITION_GONE`
 */
async function demandBundle(expected: ClusterFacts["bundle"], { seen, session, bundles }: Effects): Promise<void> {
  if (session.sent().get("CreateBundle")?.outcome === "answered") return;
  const stored = await bundles.read({ namespace: seen.controlPlane.metadata.namespace ?? "", name: expected.secretName });
  if (stored?.fingerprint === expected.fingerprint) return;
  session.bundle = undefined;
  throw new EffectError("PRECONDITION_GONE", `the Secret ${expected.secretName} does not hold the keys any more that were seen in it`);
}
