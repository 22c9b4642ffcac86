import type { JsonObject } from "../json.ts";
import { objectMetaSchema } from "../schema/object-meta.ts";

/** Names of the shared definitions, as every Kubernetes client knows them. */
export const objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
export const listMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
export const deleteOptionsName = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
export const patchName = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
export const statusName = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";

const text = { type: "string" };

/** Schemas that every document carries. */
export const sharedSchemas: Readonly<Record<string, JsonObject>> = {
  [objectMetaName]: { ...objectMetaSchema },
  [listMetaName]: {
    type: "object",
    description: "Metadata of a list.",
    properties: { continue: text, remainingItemCount: { type: "integer", format: "int64" }, resourceVersion: text, selfLink: text },
  },
  [deleteOptionsName]: {
    type: "object",
    description: "Options of a deletion.",
    properties: {
      apiVersion: text,
      kind: text,
      dryRun: { type: "array", items: text, "x-kubernetes-list-type": "atomic" },
      gracePeriodSeconds: { type: "integer", format: "int64" },
      orphanDependents: { type: "boolean" },
      preconditions: { type: "object", properties: { resourceVersion: text, uid: text } },
      propagationPolicy: text,
    },
  },
  [patchName]: { type: "object", description: "A patch document." },
  [statusName]: {
    type: "object",
    description: "What became of a request.",
    properties: {
      apiVersion: text,
      kind: text,
      code: { type: "integer", format: "int32" },
      message: text,
      reason: text,
      status: text,
    },
  },
};
