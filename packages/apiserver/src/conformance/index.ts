import { applyCases } from "./apply.ts";
import { badInputCases } from "./bad-input.ts";
import { coreKindCases } from "./core-kinds.ts";
import { crdCases } from "./crds.ts";
import { deleteCases } from "./deletes.ts";
import { garbageCases } from "./garbage.ts";
import { jsonPatchCases } from "./json-patches.ts";
import { listCases, watchCases } from "./lists.ts";
import { nameCases } from "./names.ts";
import { objectCases } from "./objects.ts";
import { pagingCases } from "./paging.ts";
import { patchCases } from "./patches.ts";
import { policyCases } from "./policies.ts";
import { selectorCases } from "./selectors.ts";
import { watchingCases } from "./watching.ts";
import { evictionCases } from "./evictions.ts";
import { rbacCases } from "./rbac.ts";
import { tokenCases } from "./tokens.ts";
import { workloadCases } from "./workloads.ts";
import type { ConformanceCase } from "./world.ts";

export { createWorld, installConformanceKinds } from "./fixture.ts";
export type { World } from "./world.ts";
export type { ConformanceCase } from "./world.ts";

/** Every behaviour of the suite, by subject. */
export const conformanceCases: Readonly<Record<string, readonly ConformanceCase[]>> = {
  objects: objectCases,
  names: nameCases,
  patches: patchCases,
  "patches in detail": jsonPatchCases,
  apply: applyCases,
  lists: listCases,
  selectors: selectorCases,
  "pages and revisions": pagingCases,
  watches: [...watchCases, ...watchingCases],
  deletes: deleteCases,
  "garbage collection": garbageCases,
  definitions: crdCases,
  "core kinds": coreKindCases,
  "roles and reviews": rbacCases,
  tokens: tokenCases,
  evictions: evictionCases,
  workloads: workloadCases,
  policies: policyCases,
  "bad input": badInputCases,
};
