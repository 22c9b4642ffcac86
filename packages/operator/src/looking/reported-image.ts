import { noSchematic } from "@talos-operator/talos";
import { reportedWord } from "./reported-words.ts";

/** Most extensions that are kept of a machine, and the longest name. */
const MOST = 32;
const LONGEST = 64;

/** What the running Talos was built from, each where it is reported. */
export interface ReportedImage {
  /** Id of its schematic; `none` where the Image Factory did not build it. */
  readonly schematic?: string;
  /** Names of its system extensions. */
  readonly extensions?: readonly string[];
}

/** By the extensions that a machine reports: the Image Factory puts its schematic among them. What is no id, and more extensions than anybody has, count as not reported. */
export function reportedImage(told: readonly { readonly spec: { readonly name: string; readonly version: string } }[]): ReportedImage {
  const schematic = told.find(({ spec: { name } }) => name === "schematic")?.spec.version ?? noSchematic;
  const names = told.flatMap(({ spec: { name } }) => (name === "schematic" ? [] : [reportedWord(name, LONGEST)]));
  const extensions = names.filter((name) => name !== undefined);
  return {
    ...(schematic === noSchematic || /^[0-9a-f]{64}$/.test(schematic) ? { schematic } : {}),
    ...(extensions.length === names.length && names.length <= MOST ? { extensions: extensions.toSorted() } : {}),
  };
}
