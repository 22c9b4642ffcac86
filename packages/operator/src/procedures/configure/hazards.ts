import { annotations } from "@talos-operator/api";
import type { Hazard, HazardCode } from "@talos-operator/talos";
import type { DeclaredMachine } from "../../model/machine.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** What of these hazards nobody accepted for these settings: with any of it they are not sent. */
export function heldBack(
  { acceptedHazards = [] }: Pick<ClusterFacts, "acceptedHazards">,
  settings: string,
  hazards: readonly Hazard[] = [],
): readonly Hazard[] {
  return hazards.filter(({ code }) => !acceptedHazards.some((one) => one.code === code && one.configHash === settings));
}

/** The codes, each once. */
export function codesOf(hazards: readonly Hazard[]): readonly HazardCode[] {
  return [...new Set(hazards.map(({ code }) => code))];
}

/** Where the first of them is and what to do about it, and how a person overrules all of them: sentences. */
export function hazardWords(hazards: readonly Hazard[], { owner }: Pick<DeclaredMachine, "owner">): string {
  const [first] = hazards;
  if (first === undefined) return "";
  const { document, path, message } = first;
  const place = [document === "v1alpha1" ? "" : document, path].filter((part) => part !== "").join(" ");
  const codes = codesOf(hazards).join(",");
  return `${place}: ${message}. To send it anyway, annotate ${owner.kind} ${owner.name} with ${annotations.acceptHazard}: ${codes}.`;
}
