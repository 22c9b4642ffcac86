import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { builtinKinds } from "../builtin/index.ts";
import { merges, values } from "../differential/custom-kinds.ts";
import { isObject, type JsonObject } from "../json.ts";
import { compileCrd, type CompiledVersion } from "../schema/index.ts";
import { openApiV2, openApiV3, openApiV3Index } from "./index.ts";

const customKinds: readonly CompiledVersion[] = [merges.crd, values.crd].flatMap((crd) => {
  const outcome = compileCrd(crd);
  return outcome.ok ? [...outcome.crd.versions.values()] : assert.fail(JSON.stringify(outcome.errors));
});
const groupVersions = [...new Set(builtinKinds().map((kind) => kind.apiVersion))];

function referencesOf(value: unknown, found: Set<string> = new Set()): Set<string> {
  if (Array.isArray(value)) for (const item of value) referencesOf(item, found);
  else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      // A property may be called $ref as well: that of JSONSchemaProps is.
      if (key === "$ref" && typeof inner === "string") found.add(inner);
      else referencesOf(inner, found);
    }
  }
  return found;
}

describe("OpenAPI v3", () => {
  for (const [groupVersion, kinds] of [
    ...groupVersions.map((name) => [name, builtinKinds()] as const),
    ["differential.example.com/v1", customKinds] as const,
  ]) {
    it(`of ${groupVersion} refers to nothing that is not there`, () => {
      const document = openApiV3(groupVersion, kinds) as { components: { schemas: JsonObject }; paths: JsonObject };
      for (const reference of referencesOf(document)) {
        assert.ok(reference.startsWith("#/components/schemas/"), reference);
        assert.ok(Object.hasOwn(document.components.schemas, reference.slice("#/components/schemas/".length)), reference);
      }
      assert.ok(Object.keys(document.paths).length > 0);
    });
  }

  it("tells clients that a patch can be validated and tried", () => {
    const document = openApiV3("differential.example.com/v1", customKinds) as { paths: Record<string, { patch: JsonObject }> };
    const patch = document.paths["/apis/differential.example.com/v1/namespaces/{namespace}/mergekinds/{name}"]?.patch;
    const parameters = (patch as { parameters: { name: string }[] }).parameters.map((parameter) => parameter.name);
    assert.deepEqual(parameters, ["dryRun", "fieldManager", "fieldValidation", "force"]);
    assert.deepEqual(patch?.["x-kubernetes-group-version-kind"], { group: "differential.example.com", version: "v1", kind: "MergeKind" });
    assert.equal(patch?.["x-kubernetes-action"], "patch");
  });

  it("serves status where a kind has it, and creation alone for reviews", () => {
    const merge = openApiV3("differential.example.com/v1", customKinds) as { paths: JsonObject };
    assert.ok("/apis/differential.example.com/v1/namespaces/{namespace}/mergekinds/{name}/status" in merge.paths);
    assert.ok(!("/apis/differential.example.com/v1/namespaces/{namespace}/valuekinds/{name}/status" in merge.paths));
    const reviews = openApiV3("authentication.k8s.io/v1", builtinKinds()) as { paths: Record<string, JsonObject> };
    assert.deepEqual(Object.keys(reviews.paths["/apis/authentication.k8s.io/v1/tokenreviews"] ?? {}), ["post"]);
  });

  it("describes a custom kind under the name that kubectl explain looks for", () => {
    const document = openApiV3("differential.example.com/v1", customKinds) as {
      components: { schemas: Record<string, { properties: JsonObject; "x-kubernetes-group-version-kind": unknown }> };
    };
    const schema = document.components.schemas["com.example.differential.v1.MergeKind"];
    assert.deepEqual(schema?.["x-kubernetes-group-version-kind"], [
      { group: "differential.example.com", version: "v1", kind: "MergeKind" },
    ]);
    assert.deepEqual(Object.keys(schema?.properties ?? {}).toSorted(), ["apiVersion", "kind", "metadata", "spec", "status"]);
  });

  it("describes built-in kinds in the words of the genuine server", () => {
    const document = openApiV3("v1", builtinKinds()) as {
      components: { schemas: Record<string, { properties: Record<string, JsonObject> }> };
    };
    const { schemas } = document.components;
    assert.match(String(schemas["io.k8s.api.core.v1.ConfigMap"]?.properties["immutable"]?.["description"]), /cannot be updated/);
    assert.ok("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" in schemas);
  });

  it("has an index whose addresses change with the documents", () => {
    assert.deepEqual(
      openApiV3Index(["v1", "apps/v1"], (name) => name.toUpperCase()),
      {
        paths: {
          "api/v1": { serverRelativeURL: "/openapi/v3/api/v1?hash=V1" },
          "apis/apps/v1": { serverRelativeURL: "/openapi/v3/apis/apps/v1?hash=APPS/V1" },
        },
      },
    );
  });
});

describe("OpenAPI v2", () => {
  const document = openApiV2([...builtinKinds(), ...customKinds]) as { definitions: JsonObject; paths: JsonObject };

  it("refers to nothing that is not there", () => {
    const references = referencesOf(document);
    assert.ok(references.size > 50, String(references.size));
    for (const reference of references) {
      assert.ok(Object.hasOwn(document.definitions, reference.slice("#/definitions/".length)), reference);
    }
  });

  it("uses no word that Swagger 2.0 does not know", () => {
    const visit = (value: unknown, path: string): void => {
      if (Array.isArray(value)) value.forEach((item, index) => visit(item, `${path}[${index}]`));
      else if (isObject(value)) {
        for (const [key, inner] of Object.entries(value)) {
          const isProperty = path.endsWith(".properties");
          assert.ok(isProperty || !["anyOf", "oneOf", "nullable", "not"].includes(key), `${path}.${key}`);
          if (key !== "default" && key !== "enum") visit(inner, `${path}.${key}`);
        }
      }
    };
    visit(document.definitions, "definitions");
    assert.ok(Object.keys(document.definitions).length > 50);
  });
});
