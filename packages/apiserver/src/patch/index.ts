export { applyJsonPatch } from "./json-patch.ts";
export { applyMergePatch } from "./merge-patch.ts";
export { applyStrategicMergePatch } from "./strategic-merge-patch.ts";
export type { PatchOutcome } from "./outcome.ts";
