import { EffectError } from "../../../errors.ts";
import { findBundles } from "../../../importing/found-bundles.ts";
import { writtenConfig } from "../spec/written-config.ts";
import type { Action } from "../../../model/effect.ts";
import type { Effects } from "./ports.ts";

/**
 * Copies the keys of a running cluster into a Secret of ours, create-only. They are read again, and must be those that were verified; where they were found
 * they stay, so that there is a way back.
 */
export async function takeBundle(action: Extract<Action, { readonly kind: "TakeBundle" }>, effects: Effects): Promise<void> {
  const { client, seen, bundles, session, log, leading } = effects;
  const { namespace, name } = seen.controlPlane.metadata;
  const { places, bundle } = await findBundles(client, seen.controlPlane, {
    written: seen.adoption?.isAsked === true ? writtenConfig(seen) : undefined,
  });
  if (bundle === undefined || places.some((place) => place.fingerprint !== action.ifFingerprint))
    throw new EffectError("PRECONDITION_GONE", "the keys that were found are not those that were verified");
  await effects.demandAlone(true);
  if (!(await leading.confirm())) throw new EffectError("NOT_LEADING", "another process holds the lease");
  log.info({ action: "TakeBundle", secretName: action.secret }, "Taking over the secrets bundle");
  await bundles.create({ namespace, name: action.secret }, name, bundle);
  session.bundle = undefined;
  effects.event(seen.controlPlane, "Imported", "TakeBundle", `Copied the cluster's keys into Secret ${action.secret}.`);
}
