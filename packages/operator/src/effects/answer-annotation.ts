import { talosControlPlaneResource, talosWorkerResource } from "@talos-operator/api";
import type { ObjectMeta, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { stored } from "../planning/step-of.ts";
import { defineEffect } from "./define.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** A person's word acts once: it is taken off and answered by an event. */
    AnswerAnnotation: {
      readonly annotation: string;
      readonly value: string;
      readonly answer: string;
      /** The TalosWorker that it stands on; absent = the TalosControlPlane. */
      readonly pool?: string;
    };
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
    const { pool } = action;
    const path = `/metadata/annotations/${action.annotation.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const operations = [{ op: "test", path, value: action.value } as const, { op: "remove", path } as const];
    const resource =
      pool === undefined
        ? client.resource<TalosControlPlane>(talosControlPlaneResource)
        : client.resource<TalosWorker>(talosWorkerResource);
    const updated = await resource.patch({ namespace, name: pool ?? name }, { type: "json", operations }, { signal });
    effects.event("Reconciling", "AnswerAnnotation", action.answer, updated);
    return effects.caughtUp(pool === undefined ? "TalosControlPlane" : "TalosWorker", updated.metadata.resourceVersion);
  },
  step: ({ annotation }) => stored(annotation, (named) => `Take off the annotation ${named}: it has acted.`),
  afterwards(seen, { annotation, pool }) {
    const answered = <T extends { readonly metadata: ObjectMeta }>(object: T): T => {
      const { [annotation]: _, ...annotations } = object.metadata.annotations ?? {};
      return { ...object, metadata: { ...object.metadata, annotations } };
    };
    if (pool === undefined) return { ...seen, controlPlane: answered(seen.controlPlane) };
    return { ...seen, workers: seen.workers.map((worker) => (worker.metadata.name === pool ? answered(worker) : worker)) };
  },
});
