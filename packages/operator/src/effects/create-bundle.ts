import { clusterRecordResource } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import { contractFor, fingerprintSecretsBundle, generateSecretsBundle } from "@talos-operator/talos";
import type { SecretsBundle } from "@talos-operator/talos";
import { wholeBundle } from "../config/config-base.ts";
import { EffectError } from "../errors.ts";
import { BACKDATE_MS } from "../secrets/credentials.ts";
import { givenSecretsName, readGivenSecrets } from "../secrets/given-secrets.ts";
import type { GivenSecrets } from "../secrets/given-secrets.ts";
import { equip } from "../observe/fresh-copies.ts";
import { stored } from "../planning/step-of.ts";
import { writtenConfig } from "../spec/written-config.ts";
import type { Observed } from "../model/observation.ts";
import { defineEffect } from "./define.ts";
import type { Sending } from "./define.ts";
import { lease } from "./lease.ts";
import type { Effects } from "./ports.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Create-only, immutable, without owner. Never executed when the record names a bundle. */
    CreateBundle: { readonly secret: string };
  }
}

/** The service account's key, which is made beside the passes, where the keys are not written by a person. */
const serviceAccountKey = ({ effects }: Sending): string | undefined =>
  writtenBundle(effects.seen) === undefined
    ? effects.session.accountKey.take(
        () => effects.keys.createPrivateKey("rsa4096"),
        () => effects.wake(),
      )
    : "";

/** Makes the keys of a new cluster. Reads live first: a Secret that is there, whoever made it, is never replaced. */
export const createBundle = defineEffect("CreateBundle", {
  inventory: "K1",
  at: "objects",
  disrupts: "nothing",
  before: {
    keyMade: (sending) => (sending.ask(serviceAccountKey) === undefined ? "not-now" : undefined),
    noRecord: async ({ effects: { client, seen, session, clock } }) => {
      const { namespace = "", name } = seen.controlPlane.metadata;
      const record = await client.resource<ClusterRecord>(clusterRecordResource).tryGet({ namespace, name });
      session.record = { at: clock.now(), value: record ?? "absent" };
      return record === undefined ? undefined : "not-now";
    },
    lease,
  },
  async carryOut(sending) {
    const { action, effects } = sending;
    const { seen, session, clock, bundles, log } = effects;
    const { namespace, name } = seen.controlPlane.metadata;
    const written = writtenBundle(seen);
    const bundle = written ?? (await generated(effects, sending.ask(serviceAccountKey) ?? ""));
    // Machines may run with what a person wrote or gave, whatever is known of this cluster.
    const isNew = written === undefined && givenSecretsName(seen.controlPlane.metadata) === undefined;
    log.info({ action: "CreateBundle", secretName: action.secret }, "Creating secrets bundle");
    const outcome = await bundles.create(
      { namespace, name: action.secret },
      name,
      bundle,
      isNew ? seen.controlPlane.metadata.uid : undefined,
    );
    session.bundle = undefined;
    session.accountKey.forget();
    if (outcome === "existed") return;
    session.noteSent("CreateBundle", "answered", "");
    session.hasMadeKeys = true;
    const fingerprint = fingerprintSecretsBundle(bundle);
    session.bundle = {
      at: clock.now(),
      value: { kind: "present", value: { fingerprint, clusterId: bundle.cluster.id, isOurs: true, isDeleting: false } },
    };
    // They were stored this moment: whom they are for need not read them again.
    await session.keysInHand.get(fingerprint, () => Promise.resolve(bundle));
    await equip(session, bundle, fingerprint, effects);
    effects.event("Created", "CreateBundle", `Made the cluster's keys: Secret ${action.secret}.`);
  },
  step: ({ secret }) => stored(secret, (named) => `Make the cluster's keys: Secret ${named}.`),
  afterwards: (seen) => ({
    ...seen,
    bundle: { kind: "present", value: { fingerprint: "to be made", clusterId: "to be made", isOurs: true, isDeleting: false } },
    sent: new Map([...seen.sent, ["CreateBundle", { at: seen.now, outcome: "answered", detail: "" }]]),
  }),
});

async function generated(effects: Effects, serviceAccountKey: string): Promise<SecretsBundle> {
  const { seen, keys, clock, random } = effects;
  const contract = contractFor(seen.controlPlane.spec?.version ?? "");
  // Machines whose clock is behind ours must not wait for the authorities to begin.
  const backdated = { now: () => clock.now() - BACKDATE_MS };
  const given = await demandGiven(effects);
  const chosen = given === undefined ? {} : { trustdToken: given.token, authorities: { os: given.authority } };
  return generateSecretsBundle({ contract, clock: backdated, random, keys, serviceAccountKey, ...chosen });
}

/** The secrets that somebody gave for the keys, read anew; `undefined` = none are given. @throws EffectError `PRECONDITION_GONE` */
async function demandGiven(effects: Effects): Promise<GivenSecrets | undefined> {
  const { metadata } = effects.seen.controlPlane;
  const name = givenSecretsName(metadata);
  if (name === undefined) return undefined;
  const { source, given, problem } = await readGivenSecrets(effects, metadata.namespace ?? "", name);
  if (given === undefined) throw new EffectError("PRECONDITION_GONE", `the ${source} gives no secrets: ${problem ?? "it changed"}`);
  return given;
}

/** The keys in the config that a person wrote; `undefined` = it holds none, or there is none. */
function writtenBundle(seen: Observed): SecretsBundle | undefined {
  const base = writtenConfig(seen);
  return base?.fingerprint === undefined ? undefined : wholeBundle(base.text.reveal());
}
