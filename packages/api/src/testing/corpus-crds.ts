import { companionCrds, crds } from "../crds.ts";
import type { CustomResourceDefinition } from "../schema/crd.ts";
import type { CorpusSubject } from "./manifest-corpus.ts";

/** What must be installed before the corpus is sent: our kinds, and those of others that clusters refer to. */
export const corpusCrds: readonly CustomResourceDefinition[] = [...crds, ...companionCrds];

const namesOf = (kind: string) => corpusCrds.find(({ spec }) => spec.names.kind === kind)?.spec;

/** Where the objects of the corpus' kinds live, for a {@link CorpusSubject}. */
export const corpusScope: Pick<CorpusSubject, "pluralOf" | "isNamespaced"> = {
  pluralOf: (kind) => namesOf(kind)?.names.plural ?? kind.toLowerCase(),
  isNamespaced: (kind) => namesOf(kind)?.scope !== "Cluster",
};
