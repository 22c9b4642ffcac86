import { coreKindCases } from "./core-kinds.ts";
import { deleteCases } from "./deletes.ts";
import { listCases, watchCases } from "./lists.ts";
import { objectCases } from "./objects.ts";
import { patchCases } from "./patches.ts";
import type { ConformanceCase } from "./world.ts";

export { createWorld, installConformanceKinds } from "./fixture.ts";
export type { World } from "./world.ts";
export type { ConformanceCase } from "./world.ts";

/** Every behaviour of the suite, by subject. */
export const conformanceCases: Readonly<Record<string, readonly ConformanceCase[]>> = {
  objects: objectCases,
  names: nameCases,
  patches: patchCases,
  lists: listCases,
  watches: watchCases,
  deletes: deleteCases,
  "core kinds": coreKindCases,
};
