import assert from "node:assert/strict";
import type { KubeWatchEvent } from "@talos-operator/ports";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt, stringsAt } from "../request/json.ts";
import { metaOf, namesOf, patiently, until } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

const crdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

interface Definition {
  readonly group: string;
  readonly plural: string;
  readonly name: string;
  readonly path: string;
  readonly body: JsonObject;
}

const openSpec: JsonObject = {
  type: "object",
  properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
};

/** A definition of a kind of the case's own: groups cannot be shared, for kinds outlive their cases for a moment. */
function define(w: World, versions: readonly JsonObject[], more: JsonObject = {}): Definition {
  const group = `${w.namespace}.example.com`;
  const plural = "things";
  const name = `${plural}.${group}`;
  return {
    group,
    plural,
    name,
    path: `/apis/${group}/v1/namespaces/${w.namespace}/${plural}`,
    body: {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name },
      spec: { group, scope: "Namespaced", names: { plural, kind: "Thing" }, versions, ...more },
    },
  };
}

function version(name: string, schema: JsonObject = openSpec, more: JsonObject = {}): JsonObject {
  return { name, served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more };
}

const isTrue = (event: KubeWatchEvent | undefined, type: string): boolean =>
  objectsAt(objectAt(event?.object, "status"), "conditions").some(
    (condition) => condition["type"] === type && condition["status"] === "True",
  );

/** Creates it and waits until its objects can be listed. */
async function install(w: World, definition: Definition, versionName = "v1"): Promise<void> {
  await w.create(crdsPath, definition.body);
  await w.watch(crdsPath, { fieldSelector: `metadata.name=${definition.name}` }, (events) => isTrue(events.at(-1), "Established"));
  await served(w, definition, versionName);
}

async function served(w: World, { group, plural }: Definition, versionName: string): Promise<void> {
  await until(async () => (await w.get(`/apis/${group}/${versionName}/${plural}`)).status === 200);
}

function thing(definition: Definition, name: string, spec: JsonObject = { size: 1 }, versionName = "v1"): JsonObject {
  return { apiVersion: `${definition.group}/${versionName}`, kind: "Thing", metadata: { name }, spec };
}

const remove = (w: World, { name }: Definition): Promise<unknown> => w.send("DELETE", `${crdsPath}/${name}`);

/** Changes the schema of the first version. */
function reschema(w: World, { name }: Definition, schema: JsonObject): Promise<JsonObject> {
  return w.ok(w.patch(`${crdsPath}/${name}`, "json", [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value: schema }]));
}

const withSpec = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties: { spec: { type: "object", properties, ...more } },
});

interface Refused {
  readonly says: string;
  readonly versions?: readonly JsonObject[];
  readonly more?: JsonObject;
  readonly causes: readonly string[];
}

const schemaPath = "spec.validation.openAPIV3Schema";
const refused: readonly Refused[] = [
  { says: "without any version", versions: [], causes: ["spec.versions"] },
  {
    says: "with a version twice",
    versions: [version("v1"), version("v1", openSpec, { storage: false })],
    causes: ["spec.versions"],
  },
  { says: "with a scope that does not exist", more: { scope: "Everywhere" }, causes: ["spec.scope"] },
  { says: "with a version that is no label", versions: [version("V_1")], causes: [] },
  {
    says: "whose schema is no object",
    versions: [version("v1", { type: "string" })],
    causes: [`${schemaPath}.type`],
  },
  {
    says: "with a field without a type",
    versions: [version("v1", { type: "object", properties: { spec: {} } })],
    causes: [`${schemaPath}.properties[spec].type`],
  },
  {
    says: "with a list without items",
    versions: [version("v1", { type: "object", properties: { spec: { type: "array" } } })],
    causes: [`${schemaPath}.properties[spec].items`],
  },
  {
    says: "with properties beside additionalProperties",
    versions: [
      version("v1", {
        type: "object",
        properties: { spec: { type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } } },
      }),
    ],
    causes: [`${schemaPath}.properties[spec].additionalProperties`],
  },
  {
    says: "with a list map without keys",
    versions: [
      version("v1", {
        type: "object",
        properties: { spec: { type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } } },
      }),
    ],
    causes: [`${schemaPath}.properties[spec].x-kubernetes-list-map-keys`],
  },
  {
    says: "with a default of another type",
    versions: [version("v1", withSpec({ a: { type: "integer", default: "x" } }))],
    causes: [`${schemaPath}.properties[spec].properties[a].default`],
  },
  {
    says: "with a rule that does not compile",
    versions: [version("v1", withSpec({ a: { type: "integer", "x-kubernetes-validations": [{ rule: "self +" }] } }))],
    causes: [`${schemaPath}.properties[spec].properties[a].x-kubernetes-validations[0].rule`],
  },
];

/** Definitions of custom kinds: what they may say, how they live, change and go. */
export const crdCases: readonly ConformanceCase[] = [
  ...refused.map(({ says, versions = [version("v1")], more, causes }) => ({
    name: `a definition ${says} is refused`,
    run: async (w: World) => {
      const status = await w.refused(w.send("POST", crdsPath, define(w, versions, more).body), { status: 422, reason: "Invalid" });
      const fields = objectsAt(objectAt(status, "details"), "causes").map((cause) =>
        String(cause["field"]).replace("spec.versions[0].schema.", "spec.validation."),
      );
      for (const cause of causes) assert.ok(fields.includes(cause), `${cause} in ${fields.join(", ")}`);
    },
  })),
  {
    name: "names that are not given come from the kind",
    run: async (w) => {
      const definition = define(w, [version("v1")]);
      const created = await w.create(crdsPath, definition.body);
      const names = objectAt(objectAt(created, "spec"), "names");
      assert.deepEqual([names["singular"], names["listKind"]], ["thing", "ThingList"]);
      await remove(w, definition);
    },
  },
  {
    name: "a kind that another definition of the group has is not accepted",
    run: async (w) => {
      const definition = define(w, [version("v1")]);
      await install(w, definition);
      const second = { ...definition.body, metadata: { name: `others.${definition.group}` } };
      const spec = { ...objectAt(definition.body, "spec"), names: { plural: "others", kind: "Thing" } };
      await w.create(crdsPath, { ...second, spec });
      const events = await w.watch(crdsPath, { fieldSelector: `metadata.name=others.${definition.group}` }, (seen) =>
        objectsAt(objectAt(seen.at(-1)?.object, "status"), "conditions").some(
          (condition) => condition["type"] === "NamesAccepted" && condition["status"] === "False",
        ),
      );
      assert.equal(isTrue(events.at(-1), "Established"), false);
      await w.ok(w.send("DELETE", `${crdsPath}/others.${definition.group}`));
      await remove(w, definition);
    },
  },
  {
    name: "generation of a definition counts changes of its spec",
    run: async (w) => {
      const definition = define(w, [version("v1")]);
      await install(w, definition);
      const changed = await reschema(w, definition, withSpec({ other: { type: "string" } }));
      assert.equal(metaOf(changed)["generation"], 2);
      const labelled = await w.ok(w.patch(`${crdsPath}/${definition.name}`, "merge", { metadata: { labels: { a: "b" } } }));
      assert.equal(metaOf(labelled)["generation"], 2);
      await remove(w, definition);
    },
  },
  {
    name: "group, plural and scope of a definition cannot change",
    run: async (w) => {
      const definition = define(w, [version("v1")]);
      await install(w, definition);
      await w.refused(w.patch(`${crdsPath}/${definition.name}`, "merge", { spec: { scope: "Cluster" } }), {
        status: 422,
        reason: "Invalid",
        causes: ["spec.scope"],
      });
      await w.refused(w.patch(`${crdsPath}/${definition.name}`, "merge", { spec: { group: "other.example.com" } }), {
        status: 422,
        reason: "Invalid",
      });
      await remove(w, definition);
    },
  },
  {
    name: "a field that a new schema leaves out is pruned when it is read",
    run: async (w) => {
      const definition = define(w, [version("v1", withSpec({ a: { type: "string" }, b: { type: "string" } }))]);
      await install(w, definition);
      await w.create(definition.path, thing(definition, "x", { a: "1", b: "2" }));
      await reschema(w, definition, withSpec({ a: { type: "string" } }));
      await until(async () => {
        const { status, body } = await w.get(`${definition.path}/x`);
        return status === 200 && objectAt(body, "spec")["b"] === undefined;
      });
      assert.deepEqual((await w.ok(w.get(`${definition.path}/x`)))["spec"], { a: "1" });
      await remove(w, definition);
    },
  },
  {
    name: "a new default is there when an old object is read",
    run: async (w) => {
      const definition = define(w, [version("v1", withSpec({ a: { type: "string" } }))]);
      await install(w, definition);
      await w.create(definition.path, thing(definition, "x", { a: "1" }));
      await reschema(w, definition, withSpec({ a: { type: "string" }, mode: { type: "string", default: "auto" } }));
      await until(async () => objectAt((await w.get(`${definition.path}/x`)).body, "spec")["mode"] === "auto");
      await remove(w, definition);
    },
  },
  {
    name: "a stricter schema does not hold for what did not change",
    run: async (w) => {
      const definition = define(w, [version("v1", withSpec({ size: { type: "integer" }, note: { type: "string" } }))]);
      await install(w, definition);
      await w.create(definition.path, thing(definition, "x", { size: 50 }));
      await reschema(w, definition, withSpec({ size: { type: "integer", maximum: 10 }, note: { type: "string" } }));
      await until(
        async () =>
          (await w.send("POST", definition.path, thing(definition, "probe", { size: 50 }), { query: { dryRun: "All" } })).status === 422,
      );
      await w.ok(w.patch(`${definition.path}/x`, "merge", { spec: { note: "unrelated" } }));
      await w.refused(w.patch(`${definition.path}/x`, "merge", { spec: { size: 60 } }), { status: 422, causes: ["spec.size"] });
      await w.ok(w.patch(`${definition.path}/x`, "merge", { spec: { size: 9 } }));
      await w.refused(w.patch(`${definition.path}/x`, "merge", { spec: { size: 50 } }), { status: 422, causes: ["spec.size"] });
      await remove(w, definition);
    },
  },
  {
    name: "objects are written all the time while their definition changes, and none is lost",
    run: async (w) => {
      const definition = define(w, [version("v1", withSpec({ size: { type: "integer" } }))]);
      await install(w, definition);
      const names = Array.from({ length: 30 }, (_, index) => `x-${String(index).padStart(2, "0")}`);
      const writing = names.map(async (name, index) => {
        if (index % 10 === 5) await reschema(w, definition, withSpec({ size: { type: "integer" }, [`f${index}`]: { type: "string" } }));
        await patiently(w, () => w.send("POST", definition.path, thing(definition, name, { size: index })));
        await patiently(w, () => w.patch(`${definition.path}/${name}`, "merge", { spec: { size: index + 100 } }));
      });
      await Promise.all(writing);
      const list = await w.ok(w.get(definition.path));
      assert.deepEqual(namesOf(list), names);
      assert.deepEqual(
        objectsAt(list, "items").map((item) => objectAt(item, "spec")["size"]),
        names.map((_, index) => index + 100),
      );
      await remove(w, definition);
    },
  },
  {
    name: "a deleted definition takes its objects along and its paths are gone",
    run: async (w) => {
      const definition = define(w, [version("v1")]);
      await install(w, definition);
      await w.create(definition.path, thing(definition, "x"));
      const listed = await w.ok(w.get(crdsPath));
      await remove(w, definition);
      const query = { resourceVersion: String(metaOf(listed)["resourceVersion"]), fieldSelector: `metadata.name=${definition.name}` };
      await w.watch(crdsPath, query, (seen) => seen.at(-1)?.type === "DELETED");
      await until(async () => (await w.get(definition.path)).status === 404);
    },
  },
  {
    name: "a definition waits for the finalizers of its objects",
    run: async (w) => {
      const definition = define(w, [version("v1")]);
      await install(w, definition);
      const held = thing(definition, "x");
      await w.create(definition.path, { ...held, metadata: { name: "x", finalizers: ["example.com/hold"] } });
      await remove(w, definition);
      await w.watch(definition.path, {}, (seen) => metaOf(seen.at(-1)?.object)["deletionTimestamp"] !== undefined);
      const crd = await w.ok(w.get(`${crdsPath}/${definition.name}`));
      assert.ok(stringsAt(metaOf(crd), "finalizers").includes("customresourcecleanup.apiextensions.k8s.io"));
      await w.ok(w.patch(`${definition.path}/x`, "merge", { metadata: { finalizers: null } }));
    },
  },
  {
    name: "one object is served in every served version",
    run: async (w) => {
      const definition = define(w, [version("v1"), version("v2", openSpec, { storage: false })]);
      await install(w, definition);
      await served(w, definition, "v2");
      await w.create(definition.path, thing(definition, "x", { size: 3 }));
      const other = await w.ok(w.get(definition.path.replace("/v1/", "/v2/") + "/x"));
      assert.equal(other["apiVersion"], `${definition.group}/v2`);
      assert.deepEqual(other["spec"], { size: 3 });
      const changed = await w.ok(w.patch(`${definition.path.replace("/v1/", "/v2/")}/x`, "merge", { spec: { size: 4 } }));
      assert.equal(changed["apiVersion"], `${definition.group}/v2`);
      assert.equal(objectAt(await w.ok(w.get(`${definition.path}/x`)), "spec")["size"], 4);
      await remove(w, definition);
    },
  },
  {
    name: "a watch delivers objects in the version it asks for",
    run: async (w) => {
      const definition = define(w, [version("v1"), version("v2", openSpec, { storage: false })]);
      await install(w, definition);
      await served(w, definition, "v2");
      await w.create(definition.path, thing(definition, "x"));
      const events = await w.watch(definition.path.replace("/v1/", "/v2/"), {}, (seen) => seen.length === 1);
      assert.equal(stringAt(events[0]?.object, "apiVersion"), `${definition.group}/v2`);
      await remove(w, definition);
    },
  },
  {
    name: "a version that is not served is not found",
    run: async (w) => {
      const definition = define(w, [version("v1"), version("v2", openSpec, { storage: false, served: false })]);
      await install(w, definition);
      assert.equal((await w.get(`/apis/${definition.group}/v2/${definition.plural}`)).status, 404);
      await remove(w, definition);
    },
  },
  {
    name: "the preferred version is the most mature and newest",
    run: async (w) => {
      const versions = ["v1beta1", "v2", "v1", "v3alpha1"].map((name) => version(name, openSpec, { storage: name === "v1" }));
      const definition = define(w, versions);
      await install(w, definition);
      let group: JsonObject = {};
      await until(async () => {
        const { status, body } = await w.get(`/apis/${definition.group}`);
        group = body as JsonObject;
        return status === 200 && objectsAt(group, "versions").length === 4;
      });
      assert.deepEqual(
        objectsAt(group, "versions").map((entry) => entry["version"]),
        ["v2", "v1", "v1beta1", "v3alpha1"],
      );
      assert.equal(objectAt(group, "preferredVersion")["version"], "v2");
      await remove(w, definition);
    },
  },
  {
    name: "a deprecated version warns with every request",
    run: async (w) => {
      const more = { deprecated: true, deprecationWarning: "things of v1 go" };
      const definition = define(w, [version("v1", openSpec, more)]);
      await install(w, definition);
      assert.match((await w.get(definition.path)).headers["warning"] ?? "", /299 - "things of v1 go"/);
      await remove(w, definition);
    },
  },
  {
    name: "a version that was stored stays in storedVersions",
    run: async (w) => {
      const definition = define(w, [version("v1"), version("v2", openSpec, { storage: false })]);
      await install(w, definition);
      const swapped = await w.ok(
        w.patch(`${crdsPath}/${definition.name}`, "json", [
          { op: "replace", path: "/spec/versions/0/storage", value: false },
          { op: "replace", path: "/spec/versions/1/storage", value: true },
        ]),
      );
      assert.deepEqual(stringsAt(swapped["status"], "storedVersions"), ["v1", "v2"]);
      await w.refused(w.patch(`${crdsPath}/${definition.name}`, "json", [{ op: "remove", path: "/spec/versions/0" }]), {
        status: 422,
        reason: "Invalid",
        causes: ["status.storedVersions[0]"],
      });
      await remove(w, definition);
    },
  },
  {
    name: "a definition that is in use keeps exactly one version to store",
    run: async (w) => {
      const definition = define(w, [version("v1")]);
      await install(w, definition);
      await w.refused(
        w.patch(`${crdsPath}/${definition.name}`, "json", [{ op: "replace", path: "/spec/versions/0/storage", value: false }]),
        { status: 422, reason: "Invalid", causes: ["spec.versions"] },
      );
      await remove(w, definition);
    },
  },
  {
    name: "columns, scale and status come and go with the definition",
    run: async (w) => {
      const definition = define(w, [version("v1")]);
      await install(w, definition);
      await w.create(definition.path, thing(definition, "x"));
      assert.equal((await w.get(`${definition.path}/x/status`)).status, 404);
      await w.ok(
        w.patch(`${crdsPath}/${definition.name}`, "json", [{ op: "add", path: "/spec/versions/0/subresources", value: { status: {} } }]),
      );
      await until(async () => (await w.get(`${definition.path}/x/status`)).status === 200);
      await remove(w, definition);
    },
  },
];
