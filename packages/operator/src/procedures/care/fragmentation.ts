import { annotations } from "@talos-operator/api";
import { filesOf, hanging, inMib } from "./files.ts";
import type { EtcdFile } from "./files.ts";
import { elapsedMs } from "../../elapsed.ts";
import { machineFact } from "../../record/facts.ts";
import type { Action } from "../../model/effect.ts";
import type { EtcdQuorum } from "../../model/etcd.ts";
import type { Observed } from "../../model/observation.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** A file that is smaller is not worth stopping a member for. */
const LARGE_BYTES = 100 * 1_048_576;

/** Share of the file in use below which a defragmentation is worth it. */
const IN_USE = 0.5;

/** Between two defragmentations of one member that nobody asked for. Milliseconds. */
const EVERY_MS = 24 * 3_600_000;

/** A member that is to be defragmented although nothing is amiss. */
export interface Fragmented {
  readonly file: EtcdFile;
  /** A sentence. */
  readonly why: string;
}

/** The next member whose file has more free pages than content. None while another member does not answer, or does not tell. */
export function nextFragmented(seen: Observed, facts: ClusterFacts, view: EtcdQuorum): Fragmented | undefined {
  if (view.voters.some(({ isHealthy }) => !isHealthy) || hanging(seen, view).length > 0) return undefined;
  const listed = new Set(seen.machines.map(({ declared }) => declared.name));
  const file = filesOf(seen, view).find((one) => {
    if (!listed.has(one.machine)) return false;
    const { machine, sizeBytes = 0, inUseBytes = sizeBytes } = one;
    const last = machineFact(facts, machine)?.defragmentedAt;
    return sizeBytes > LARGE_BYTES && inUseBytes < IN_USE * sizeBytes && (last === undefined || elapsedMs(last, seen.now) >= EVERY_MS);
  });
  if (file === undefined) return undefined;
  const { sizeBytes = 0, inUseBytes = 0 } = file;
  return { file, why: `Of its file of ${inMib(sizeBytes)} only ${inMib(inUseBytes)} are in use.` };
}

/** What a person asks for: a member by its machine's name, or a word that names none. */
export type Asked =
  | { readonly kind: "member"; readonly value: string; readonly file: EtcdFile }
  /** Nobody has that name. */
  | { readonly kind: "pointless"; readonly value: string; readonly message: string };

/**
 * What the annotation asks for; `undefined` = there is none, or its member cannot be told now. Whether anything is free is not asked: where nothing is amiss the last look
 * is up to a minute old, and whoever writes the annotation knows what came since.
 */
export function askedFor(seen: Observed, view: EtcdQuorum): Asked | undefined {
  const value = seen.controlPlane.metadata.annotations?.[annotations.defragment];
  if (value === undefined) return undefined;
  const known = seen.machines.some(({ declared }) => declared.role === "controlplane" && declared.name === value);
  if (!known) {
    const hint = /\S[\s,;]+\S/.test(value) ? "; one is named at a time" : "";
    return { kind: "pointless", value, message: `no control plane has the name ${JSON.stringify(value).slice(0, 100)}${hint}` };
  }
  const file = filesOf(seen, view).find(({ machine }) => machine === value);
  if (file?.sizeBytes === undefined || file.inUseBytes === undefined) return undefined;
  return { kind: "member", value, file };
}

/** Takes the annotation off, which acts once. @param words what came of it, without a full stop */
export function answerDefragment(value: string, words: string): Action {
  return {
    kind: "AnswerAnnotation",
    annotation: annotations.defragment,
    value,
    answer: `${words}; the annotation acts once and is removed.`,
  };
}
