export { differentialCrds } from "./custom-kinds.ts";
export { differentialGroups, objectNameOf } from "./groups.ts";
export { knownDifferences } from "./known-differences.ts";
export { differences, runCase, type Answer } from "./run-case.ts";
