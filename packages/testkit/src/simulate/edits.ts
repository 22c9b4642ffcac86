import type { KubeTransport } from "@talos-operator/ports";
import type { Composed } from "./composed.ts";
import { manifestOf, type Applied } from "./manifest.ts";
import { pathOf } from "./object-view.ts";
import { firstDesired, type Desired, type Scenario } from "./scenario.ts";
import type { Stage } from "./stage.ts";
import type { Trace } from "./trace.ts";
import type { EditableWorld } from "./workload.ts";

/** What a person applies, and how it is changed. */
export interface Edits extends Pick<EditableWorld, "edit" | "remove" | "applyAgain"> {
  /** What is applied now, or what would be. */
  applied(): readonly Applied[];
  /** Creates the objects that are wanted now. */
  create(): Promise<void>;
  /** Changes the objects to what is desired, whatever they are now. */
  overwrite(desired: Desired): Promise<void>;
}

export interface EditsInput {
  readonly scenario: Scenario;
  readonly stage: Stage;
  /** The Kubernetes API without faults. */
  readonly truth: KubeTransport;
  readonly composed: Composed | undefined;
  readonly trace: Trace;
  readonly now: () => number;
  /** How often keys were made so far. */
  readonly keysMade: () => number;
}

export function createEdits({ scenario, stage, truth, composed, trace, now, keysMade }: EditsInput): Edits {
  let lastApplied: { readonly desired: Desired | undefined; readonly manifest: readonly Applied[] } | undefined;
  /** Asked after every timer; what is desired is replaced and never changed. */
  const applied = (): readonly Applied[] => {
    const { desired } = stage;
    if (lastApplied === undefined || lastApplied.desired !== desired)
      lastApplied = { desired, manifest: manifestOf(scenario, desired ?? firstDesired(scenario)) };
    return lastApplied.manifest;
  };
  const send = async (method: "DELETE" | "PATCH" | "POST", path: string, body?: unknown): Promise<void> => {
    const headers = method === "PATCH" ? { "content-type": "application/merge-patch+json" } : {};
    const answer = await truth.send({ method, path, body, headers });
    if (answer.status >= 300)
      throw new Error(`an edit failed: ${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  };
  const create = async (): Promise<void> => {
    for (const { plural, body } of applied()) await send("POST", pathOf(plural), body);
  };
  const letGo = async (): Promise<void> => {
    for (const takeAway of stage.beforeLettingGo) await takeAway();
  };

  return {
    applied,
    create,
    async overwrite(desired) {
      for (const { plural, name, body } of manifestOf(scenario, desired)) await send("PATCH", pathOf(plural, name), body);
    },
    async edit(change) {
      const before = new Map(applied().map((one) => [one.plural, one]));
      const desired: Desired = { ...(stage.desired ?? firstDesired(scenario)), ...change };
      const wanted = new Set(addressesIn(stage.desired));
      const stays = new Set(addressesIn(desired));
      if ([...wanted].some((one) => !stays.has(one))) await letGo();
      stage.mayConfigure += addressesIn(desired).filter((address) => !wanted.has(address)).length;
      stage.desired = desired;
      if ("mode" in change) stage.pausedSince = undefined;
      for (const address of desired.controlPlanes) stage.everControlPlanes.add(address);
      for (const address of stays) stage.everMachines.add(address);
      composed?.follow();
      trace.add(`edit ${JSON.stringify(change)}`);
      const after = applied();
      for (const { plural, name } of before.values())
        if (!after.some((one) => one.plural === plural)) await send("DELETE", pathOf(plural, name));
      for (const { plural, name, body } of after) {
        if (!before.has(plural)) await send("POST", pathOf(plural), body);
        else await send("PATCH", pathOf(plural, name), mergePatch(before.get(plural)?.body, body));
      }
    },
    async remove() {
      const names = applied();
      await letGo();
      stage.desired = undefined;
      trace.add("edit: delete");
      for (const { plural, name } of names) await send("DELETE", pathOf(plural, name));
      stage.deletedSince = now();
    },
    async applyAgain(change, isNew) {
      const desired = { ...firstDesired(scenario), ...change };
      stage.desired = desired;
      stage.pausedSince = undefined;
      stage.deletedSince = undefined;
      for (const address of addressesIn(desired)) stage.everMachines.add(address);
      if (isNew) {
        stage.generation += 1;
        stage.keysNeverMade = stage.mayMakeKeys - keysMade();
        stage.mayMakeKeys += 1;
        stage.mayConfigure += addressesIn(desired).length;
        stage.wasReady = false;
        // It makes keys of its own; those of the one before are nobody's any more.
        stage.bundleGoneSince = undefined;
      }
      trace.add(`apply again ${JSON.stringify(change)}`);
      await create();
    },
  };
}

function addressesIn(desired: Desired | undefined): readonly string[] {
  return desired === undefined ? [] : [...desired.controlPlanes, ...desired.workers];
}

/** A merge patch that turns one object into another: what is not in the second becomes `null`. */
function mergePatch(before: unknown, after: unknown): unknown {
  if (!isPlain(before) || !isPlain(after)) return after;
  const gone = Object.keys(before).filter((key) => !(key in after));
  return {
    ...Object.fromEntries(gone.map((key) => [key, null])),
    ...Object.fromEntries(Object.entries(after).map(([key, value]) => [key, mergePatch(before[key], value)])),
  };
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
