import type { JsonObject } from "../json.ts";
import type { CompiledVersion } from "../schema/index.ts";

/** `/openapi/v3`: path of each group-version's document. `hashOf` gives a text that changes with the document. */
export function openApiV3Index(_groupVersions: readonly string[], _hashOf: (groupVersion: string) => string): JsonObject {
  throw new Error("in work");
}

/** `/openapi/v3/apis/<group>/<version>` or `/openapi/v3/api/v1`. */
export function openApiV3(_groupVersion: string, _kinds: readonly CompiledVersion[]): JsonObject {
  throw new Error("in work");
}

/** `/openapi/v2` with every kind. */
export function openApiV2(_kinds: readonly CompiledVersion[]): JsonObject {
  throw new Error("in work");
}
