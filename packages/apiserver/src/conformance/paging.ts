import assert from "node:assert/strict";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt } from "../request/json.ts";
import { describeEvents, metaOf, namesOf } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

async function createWidgets(w: World, ...names: readonly string[]): Promise<string> {
  let revision = "";
  for (const name of names) revision = String(metaOf(await w.create(w.widgets(), w.widget(name)))["resourceVersion"]);
  return revision;
}

const revisionOf = (object: JsonObject): string => String(metaOf(object)["resourceVersion"]);
const future = "9000000000000";

/** Options of a list that do not go together or say nothing. */
const refusedOptions: readonly {
  readonly query: Readonly<Record<string, string>>;
  readonly status: number;
  readonly reason: string;
  readonly message?: string | RegExp;
}[] = [
  { query: { limit: "x" }, status: 400, reason: "BadRequest", message: 'strconv.ParseInt: parsing "x": invalid syntax' },
  { query: { resourceVersion: "-1" }, status: 400, reason: "BadRequest", message: /^invalid resource version: / },
  { query: { resourceVersion: "1.5" }, status: 400, reason: "BadRequest", message: /^invalid resource version: / },
  {
    query: { resourceVersionMatch: "NotOlderThan" },
    status: 422,
    reason: "Invalid",
    message: /is forbidden unless resourceVersion is provided/,
  },
  { query: { resourceVersionMatch: "Maybe", resourceVersion: "1" }, status: 422, reason: "Invalid", message: /Unsupported value: "Maybe"/ },
  {
    query: { resourceVersionMatch: "Exact", resourceVersion: "0" },
    status: 422,
    reason: "Invalid",
    message: /"exact" is forbidden for resourceVersion "0"/,
  },
  {
    query: { resourceVersionMatch: "Exact", resourceVersion: "1", continue: "x" },
    status: 422,
    reason: "Invalid",
    message: /is forbidden when continue is provided/,
  },
  { query: { sendInitialEvents: "true" }, status: 422, reason: "Invalid", message: /sendInitialEvents is forbidden for list/ },
  {
    query: { resourceVersion: future },
    status: 504,
    reason: "Timeout",
    message: /^Timeout: Too large resource version: 9000000000000, current: \d+$/,
  },
  { query: { resourceVersion: future, resourceVersionMatch: "NotOlderThan" }, status: 504, reason: "Timeout" },
];

/** Pages and revisions of lists. */
export const pagingCases: readonly ConformanceCase[] = [
  ...refusedOptions.map(({ query, ...expected }) => ({
    name: `a list with ${new URLSearchParams(query).toString()} is refused`,
    run: async (w: World) => {
      await w.refused(w.get(w.core("configmaps"), query), expected);
    },
  })),
  {
    name: "a list of a revision of the future says when to come back",
    run: async (w) => {
      const status = await w.refused(w.get(w.core("configmaps"), { resourceVersion: future }), { status: 504 });
      assert.equal(objectAt(status, "details")["retryAfterSeconds"], 1);
      assert.equal(objectsAt(objectAt(status, "details"), "causes")[0]?.["reason"], "ResourceVersionTooLarge");
    },
  },
  {
    name: "a get of a revision of the future is refused, too",
    run: async (w) => {
      await createWidgets(w, "a");
      await w.refused(w.get(w.widgets("a"), { resourceVersion: future }), { status: 504, reason: "Timeout" });
    },
  },
  {
    name: "a get with resourceVersion 0 takes any state",
    run: async (w) => {
      await createWidgets(w, "a");
      await w.ok(w.get(w.widgets("a")));
      assert.equal(metaOf(await w.ok(w.get(w.widgets("a"), { resourceVersion: "0" })))["name"], "a");
    },
  },
  {
    name: "a limit below 0 is none",
    run: async (w) => {
      await createWidgets(w, "a", "b");
      assert.deepEqual(namesOf(await w.ok(w.get(w.widgets(), { limit: "-1" }))), ["a", "b"]);
    },
  },
  {
    name: "a limit of 0 is none",
    run: async (w) => {
      await createWidgets(w, "a", "b");
      const list = await w.ok(w.get(w.widgets(), { limit: "0" }));
      assert.deepEqual(namesOf(list), ["a", "b"]);
      assert.equal(metaOf(list)["continue"] ?? "", "");
    },
  },
  {
    name: "a page that holds all has no continue token",
    run: async (w) => {
      await createWidgets(w, "a", "b");
      const list = await w.ok(w.get(w.widgets(), { limit: "2" }));
      assert.equal(metaOf(list)["continue"] ?? "", "");
      assert.equal(metaOf(list)["remainingItemCount"], undefined);
    },
  },
  {
    name: "page after page gives every object once, in order",
    run: async (w) => {
      await createWidgets(w, "a", "b", "c", "d", "e");
      const seen: string[] = [];
      let token = "";
      do {
        const page = await w.ok(w.get(w.widgets(), { limit: "2", ...(token === "" ? {} : { continue: token }) }));
        seen.push(...namesOf(page));
        token = stringAt(metaOf(page), "continue") ?? "";
      } while (token !== "");
      assert.deepEqual(seen, ["a", "b", "c", "d", "e"]);
    },
  },
  {
    name: "the size of a page may change on the way",
    run: async (w) => {
      await createWidgets(w, "a", "b", "c", "d");
      const first = await w.ok(w.get(w.widgets(), { limit: "1" }));
      const rest = await w.ok(w.get(w.widgets(), { continue: String(metaOf(first)["continue"]) }));
      assert.deepEqual(namesOf(rest), ["b", "c", "d"]);
    },
  },
  {
    name: "an object changed between pages shows its old state",
    run: async (w) => {
      await createWidgets(w, "a", "b");
      const first = await w.ok(w.get(w.widgets(), { limit: "1" }));
      await w.ok(w.patch(w.widgets("b"), "merge", { spec: { size: 9 } }));
      const second = await w.ok(w.get(w.widgets(), { limit: "1", continue: String(metaOf(first)["continue"]) }));
      assert.equal(objectAt(objectsAt(second, "items")[0], "spec")["size"], 1);
    },
  },
  {
    name: "pages of a selection do not say how many remain",
    run: async (w) => {
      for (const name of ["a", "b", "c"]) await w.create(w.widgets(), w.widget(name, { size: 1 }, { labels: { p: "1" } }));
      const first = await w.ok(w.get(w.widgets(), { limit: "1", labelSelector: "p=1" }));
      assert.deepEqual(namesOf(first), ["a"]);
      assert.equal(metaOf(first)["remainingItemCount"], undefined);
      const second = await w.ok(w.get(w.widgets(), { limit: "5", labelSelector: "p=1", continue: String(metaOf(first)["continue"]) }));
      assert.deepEqual(namesOf(second), ["b", "c"]);
    },
  },
  {
    name: "a continue token and a resourceVersion exclude each other",
    run: async (w) => {
      await createWidgets(w, "a", "b");
      const first = await w.ok(w.get(w.widgets(), { limit: "1" }));
      await w.refused(w.get(w.widgets(), { limit: "1", continue: String(metaOf(first)["continue"]), resourceVersion: "1" }), {
        status: 400,
        reason: "BadRequest",
        message: "specifying resource version is not allowed when using continue",
      });
    },
  },
  {
    name: "a list not older than a revision holds what was written then",
    run: async (w) => {
      const revision = await createWidgets(w, "a");
      const list = await w.ok(w.get(w.widgets(), { resourceVersion: revision, resourceVersionMatch: "NotOlderThan" }));
      assert.deepEqual(namesOf(list), ["a"]);
      assert.ok(Number(revisionOf(list)) >= Number(revision));
    },
  },
  {
    name: "a revision without resourceVersionMatch means not older",
    run: async (w) => {
      const revision = await createWidgets(w, "a");
      await createWidgets(w, "b");
      const list = await w.ok(w.get(w.widgets(), { resourceVersion: revision }));
      assert.ok(namesOf(list).includes("a"));
      assert.ok(Number(revisionOf(list)) >= Number(revision));
    },
  },
  {
    name: "an exact revision pages through the past",
    run: async (w) => {
      const revision = await createWidgets(w, "a", "b", "c");
      await createWidgets(w, "aa");
      const first = await w.ok(w.get(w.widgets(), { resourceVersion: revision, resourceVersionMatch: "Exact", limit: "2" }));
      assert.deepEqual(namesOf(first), ["a", "b"]);
      const second = await w.ok(w.get(w.widgets(), { limit: "2", continue: String(metaOf(first)["continue"]) }));
      assert.deepEqual(namesOf(second), ["c"]);
    },
  },
  {
    name: "a list tells its revision also when it is empty",
    run: async (w) => {
      const list = await w.ok(w.get(w.widgets()));
      assert.deepEqual(list["items"], []);
      assert.match(revisionOf(list), /^[1-9]\d*$/);
    },
  },
  {
    name: "the revision of a list is at least that of every item",
    run: async (w) => {
      await createWidgets(w, "a", "b");
      const list = await w.ok(w.get(w.widgets()));
      for (const item of objectsAt(list, "items")) assert.ok(Number(metaOf(item)["resourceVersion"]) <= Number(revisionOf(list)));
    },
  },
  {
    name: "a watch from the revision of a list misses and repeats nothing",
    run: async (w) => {
      await createWidgets(w, "a");
      const list = await w.ok(w.get(w.widgets()));
      await createWidgets(w, "b");
      const events = await w.watch(w.widgets(), { resourceVersion: revisionOf(list) }, (seen) => seen.length === 1);
      assert.deepEqual(describeEvents(events), ["ADDED b"]);
    },
  },
  {
    name: "items of a built-in list do not repeat their kind",
    run: async (w) => {
      await w.create(w.core("configmaps"), w.configMap("a"));
      const list = await w.ok(w.get(w.core("configmaps"), { fieldSelector: "metadata.name=a" }));
      const item = objectsAt(list, "items")[0];
      assert.ok(item !== undefined && !("kind" in item) && !("apiVersion" in item), JSON.stringify(item));
    },
  },
  {
    name: "items of a custom list say what they are",
    run: async (w) => {
      await createWidgets(w, "a");
      const item = objectsAt(await w.ok(w.get(w.widgets())), "items")[0];
      assert.equal(item?.["kind"], "Widget");
      assert.equal(item["apiVersion"], "conformance.example.com/v1");
    },
  },
];
