import type { Finding, MachineAddress, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { ResolvedConfig } from "../references/config-references.ts";
import type { SpecOptions } from "./spec-options.ts";
import { isTooDeep } from "./too-deep.ts";

/** What the problems of a pool depend on beside the pool. */
interface Circumstances {
  readonly others: readonly MachineAddress[];
  readonly options: SpecOptions;
  readonly config: ResolvedConfig | undefined;
  readonly controlPlane?: TalosControlPlane | undefined;
  readonly contract: string | undefined;
}

interface Answer extends Circumstances {
  readonly problems: readonly Finding[];
}

/** The last answer about a pool. Objects of caches are replaced and never changed, and most passes ask again about the same one. */
const lastAnswers = new WeakMap<TalosControlPlane | TalosWorker, Answer>();

/** The last answers by name: a status that is written, and a child that is yet to be made, is another object of the same spec. For each process apart. */
const lastWritten = new WeakMap<SpecOptions, Map<string, { readonly text: string; readonly answer: Answer }>>();

/** Pools whose last answer is kept by name. */
const MOST_WRITTEN = 1_000;

/** All of a pool that its problems depend on. */
function textOf({ kind, metadata, spec }: TalosControlPlane | TalosWorker): string {
  return JSON.stringify([kind, metadata.namespace, metadata.name, metadata.ownerReferences, spec]);
}

function writtenOf(options: SpecOptions): Map<string, { readonly text: string; readonly answer: Answer }> {
  const known = lastWritten.get(options) ?? new Map<string, { readonly text: string; readonly answer: Answer }>();
  lastWritten.set(options, known);
  if (known.size > MOST_WRITTEN) known.clear();
  return known;
}

/** The answer that was given before to the same question, or what `find` says now. */
export function lastAnswerOr(
  pool: TalosControlPlane | TalosWorker,
  { others, options, config, controlPlane, contract }: Circumstances,
  find: () => readonly Finding[],
): readonly Finding[] {
  const last = lastAnswers.get(pool);
  if (
    last?.options === options &&
    last.config === config &&
    last.controlPlane === controlPlane &&
    last.contract === contract &&
    areSame(last.others, others)
  )
    return last.problems;
  // What is too deep to be read is too deep to be printed, and found at once.
  if (isTooDeep(pool.spec) || isTooDeep(controlPlane?.spec)) return find();
  const text = `${contract ?? ""} ${textOf(pool)} ${controlPlane === undefined ? "" : textOf(controlPlane)}`;
  const written = writtenOf(options);
  const name = `${pool.kind} ${pool.metadata.namespace ?? ""}/${pool.metadata.name}`;
  const before = written.get(name);
  const isSame = before?.text === text && before.answer.config === config && areSame(before.answer.others, others);
  const problems = isSame ? before.answer.problems : find();
  const answer = { others, options, config, controlPlane, contract, problems };
  lastAnswers.set(pool, answer);
  written.set(name, { text, answer });
  return problems;
}

function areSame(before: readonly MachineAddress[], now: readonly MachineAddress[]): boolean {
  return (
    before.length === now.length &&
    now.every(({ field, address, object }, index) => {
      const other = before[index];
      return other?.field === field && other.address === address && other.object === object;
    })
  );
}
