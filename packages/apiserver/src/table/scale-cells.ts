import type { JsonObject } from "../json.ts";
import { age, name, numberAt } from "./cell-texts.ts";

const column = (title: string, type: string, description: string, format = ""): JsonObject => ({
  name: title,
  type,
  format,
  description,
  priority: 0,
});

/** Columns of a Scale, which is no kind of its own: every kind that can be scaled shows one at `/scale`. */
export function scaleColumns(isCustom: boolean): JsonObject[] {
  return [
    column("Name", "string", "Name of the object.", isCustom ? "name" : ""),
    column("Desired", "integer", "Pods that are wanted."),
    column("Available", "integer", "Pods that there are."),
    column("Age", isCustom ? "date" : "string", "Time since the object was created."),
  ];
}

/** Cells of a Scale. */
export function scaleCells(scale: JsonObject, now: Date): readonly unknown[] {
  return [name(scale), numberAt(scale, "spec", "replicas"), numberAt(scale, "status", "replicas"), age(scale, now)];
}
