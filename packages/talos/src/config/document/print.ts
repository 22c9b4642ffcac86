import type { Generation } from "../schema/notation.ts";
import { emitYamlDocuments } from "../yaml/emit.ts";
import { encode } from "./encode.ts";
import type { ConfigDocument } from "./load.ts";

/** The canonical text of a config: v1alpha1 first, then the other documents in their order. */
export function printDocuments(documents: readonly ConfigDocument[], generation: Generation): string {
  const inOrder = [
    ...documents.filter(({ shape }) => shape.kind === "v1alpha1"),
    ...documents.filter(({ shape }) => shape.kind !== "v1alpha1"),
  ];
  return emitYamlDocuments(
    inOrder.map(({ shape, members }) => encode(shape.type, members)),
    { oldBooleanQuotes: generation === "1.13" ? "double" : "single" },
  );
}
