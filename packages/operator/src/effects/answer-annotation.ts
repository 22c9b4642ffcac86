import { talosControlPlaneResource } from "@talos-operator/api";
import type { TalosControlPlane } from "@talos-operator/api";
import { stored } from "../planning/step-of.ts";
import { defineEffect } from "./define.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** A person's word acts once: it is taken off and answered by an event. */
    AnswerAnnotation: { readonly annotation: string; readonly value: string; readonly answer: string };
  }
}

/** Takes a person's word off that has acted, and answers it. Only the value that was acted on: a newer word stays. */
export const answerAnnotation = defineEffect("AnswerAnnotation", {
  inventory: "K7",
  at: "objects",
  disrupts: "nothing",
  async carryOut({ action, effects }) {
    const { client, seen, signal } = effects;
    const { namespace = "", name } = seen.controlPlane.metadata;
    const path = `/metadata/annotations/${action.annotation.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const operations = [{ op: "test", path, value: action.value } as const, { op: "remove", path } as const];
    const updated = await client
      .resource<TalosControlPlane>(talosControlPlaneResource)
      .patch({ namespace, name }, { type: "json", operations }, { signal });
    effects.event(seen.controlPlane, "Reconciling", "AnswerAnnotation", action.answer);
    return effects.caughtUp("TalosControlPlane", updated.metadata.resourceVersion);
  },
  step: ({ annotation }) => stored(annotation, (named) => `Take off the annotation ${named}: it has acted.`),
  afterwards(seen, { annotation }) {
    const { metadata } = seen.controlPlane;
    const { [annotation]: _, ...annotations } = metadata.annotations ?? {};
    return { ...seen, controlPlane: { ...seen.controlPlane, metadata: { ...metadata, annotations } } };
  },
});
