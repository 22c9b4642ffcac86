import assert from "node:assert/strict";
import { isObject } from "../json.ts";
import { objectAt, objectsAt } from "../request/json.ts";
import { describeEvents, metaOf, namesOf } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

async function createMany(
  w: World,
  names: readonly string[],
  metadata: (name: string) => Record<string, unknown> = () => ({}),
): Promise<string> {
  let revision = "";
  for (const name of names) {
    revision = String(metaOf(await w.create(w.core("configmaps"), w.configMap(name, {}, metadata(name))))["resourceVersion"]);
  }
  return revision;
}

// A genuine server may hold a ConfigMap of its own in every namespace.
const own = { labelSelector: "mine=yes" };
const mine = (): Record<string, unknown> => ({ labels: { mine: "yes" } });

/** Lists: selectors, paging, revisions, Tables. */
const tokenOf = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

export const listCases: readonly ConformanceCase[] = [
  {
    name: "a list is ordered by name and has a resourceVersion",
    run: async (w) => {
      await createMany(w, ["c", "a", "b"], mine);
      const list = await w.ok(w.get(w.core("configmaps"), own));
      assert.equal(list["kind"], "ConfigMapList");
      assert.deepEqual(namesOf(list), ["a", "b", "c"]);
      assert.match(String(metaOf(list)["resourceVersion"]), /^\d+$/);
    },
  },
  {
    name: "label selectors compare, ask for sets and for presence",
    run: async (w) => {
      await createMany(w, ["a", "b", "c"], (name) => ({ labels: { mine: "yes", name, ...(name === "c" ? {} : { early: "1" }) } }));
      const select = async (labelSelector: string): Promise<readonly string[]> =>
        namesOf(await w.ok(w.get(w.core("configmaps"), { labelSelector: `mine=yes,${labelSelector}` })));
      assert.deepEqual(await select("name=a"), ["a"]);
      assert.deepEqual(await select("name!=a"), ["b", "c"]);
      assert.deepEqual(await select("name in (a, c)"), ["a", "c"]);
      assert.deepEqual(await select("name notin (a)"), ["b", "c"]);
      assert.deepEqual(await select("early"), ["a", "b"]);
      assert.deepEqual(await select("!early"), ["c"]);
    },
  },
  {
    name: "a selector that cannot be parsed is BadRequest",
    run: async (w) => {
      await w.refused(w.get(w.core("configmaps"), { labelSelector: "a b c" }), { status: 400, reason: "BadRequest" });
    },
  },
  {
    name: "field selectors know metadata.name",
    run: async (w) => {
      await createMany(w, ["a", "b"], mine);
      assert.deepEqual(namesOf(await w.ok(w.get(w.core("configmaps"), { fieldSelector: "metadata.name=b" }))), ["b"]);
    },
  },
  {
    name: "an unknown field in a selector is BadRequest",
    run: async (w) => {
      await w.refused(w.get(w.core("configmaps"), { fieldSelector: "data.a=1" }), {
        status: 400,
        reason: "BadRequest",
        message: /"data\.a" is not a known field selector: only "metadata\.name", "metadata\.namespace"/,
      });
    },
  },
  {
    name: "a custom kind is selected by its selectable fields",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1, color: "blue" }));
      await w.create(w.widgets(), w.widget("b"));
      assert.deepEqual(namesOf(await w.ok(w.get(w.widgets(), { fieldSelector: "spec.color=blue" }))), ["a"]);
    },
  },
  {
    name: "secrets are selected by type",
    run: async (w) => {
      await w.create(w.core("secrets"), { metadata: { name: "a" }, type: "example.com/a" });
      await w.create(w.core("secrets"), { metadata: { name: "b" } });
      assert.deepEqual(namesOf(await w.ok(w.get(w.core("secrets"), { fieldSelector: "type=example.com/a" }))), ["a"]);
    },
  },
  {
    name: "pages show one snapshot and count what remains",
    run: async (w) => {
      await createMany(w, ["a", "b", "c", "d", "e"]);
      const path = w.core("configmaps");
      const all = namesOf(await w.ok(w.get(path)));
      const first = await w.ok(w.get(path, { limit: "2" }));
      await w.create(path, w.configMap("aa"));
      await w.ok(w.send("DELETE", w.core("configmaps", "e")));
      const token = String(metaOf(first)["continue"]);
      assert.equal(metaOf(first)["remainingItemCount"], all.length - 2);
      const second = await w.ok(w.get(path, { limit: "50", continue: token }));
      assert.deepEqual([...namesOf(first), ...namesOf(second)], all);
      assert.equal(metaOf(second)["continue"] ?? "", "");
      assert.equal(metaOf(second)["resourceVersion"], metaOf(first)["resourceVersion"]);
    },
  },
  {
    name: "a foreign continue token is BadRequest",
    run: async (w) => {
      const refusals: readonly (readonly [token: string, message: string | RegExp])[] = [
        ["bm9uc2Vuc2U", /^invalid continue token: continue key is not valid: /],
        ["x", "illegal base64 data at input byte 0"],
        ["abc!", "illegal base64 data at input byte 3"],
        [tokenOf({}), "server does not recognize this encoded version "],
        [tokenOf({ v: "v9", rv: 5, start: "x" }), "server does not recognize this encoded version v9"],
        [tokenOf({ v: "meta.k8s.io/v1" }), "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"],
        [tokenOf({ v: "meta.k8s.io/v1", rv: 5 }), "encoded start key empty (version meta.k8s.io/v1)"],
        [tokenOf({ v: "meta.k8s.io/v1", rv: 5, start: "../x" }), "../x"],
      ];
      for (const [token, said] of refusals) {
        const message = typeof said === "string" ? `invalid continue token: continue key is not valid: ${said}` : said;
        await w.refused(w.get(w.core("configmaps"), { limit: "2", continue: token }), { status: 400, reason: "BadRequest", message });
      }
      await w.refused(w.get(w.core("configmaps"), { limit: "2", continue: tokenOf({ v: "meta.k8s.io/v1", rv: 2 ** 40, start: "x" }) }), {
        status: 504,
        reason: "Timeout",
      });
    },
  },
  {
    name: "an exact revision shows the past",
    run: async (w) => {
      const revision = await createMany(w, ["a"], mine);
      await createMany(w, ["b"], mine);
      const list = await w.ok(w.get(w.core("configmaps"), { ...own, resourceVersion: revision, resourceVersionMatch: "Exact" }));
      assert.deepEqual(namesOf(list), ["a"]);
      assert.equal(metaOf(list)["resourceVersion"], revision);
    },
  },
  {
    name: "resourceVersionMatch needs a resourceVersion",
    run: async (w) => {
      await w.refused(w.get(w.core("configmaps"), { resourceVersionMatch: "Exact" }), {
        status: 422,
        reason: "Invalid",
        causes: ["resourceVersionMatch"],
      });
    },
  },
  {
    name: "a resourceVersion that is no number is refused",
    run: async (w) => {
      const response = await w.get(w.core("configmaps"), { resourceVersion: "abc" });
      assert.equal(response.status, 400);
    },
  },
  {
    name: "a Table has the columns of the kind and rows with metadata",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 7 }));
      const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
      const table = await w.ok(w.send("GET", w.widgets(), undefined, { headers: { accept } }));
      assert.equal(table["kind"], "Table");
      assert.equal(table["apiVersion"], "meta.k8s.io/v1");
      assert.deepEqual(
        objectsAt(table, "columnDefinitions").map((column) => column["name"]),
        ["Name", "Size", "Color"],
      );
      const row = objectsAt(table, "rows")[0];
      assert.deepEqual(row?.["cells"], ["a", 7, "red"]);
      assert.equal(objectAt(row, "object")["kind"], "PartialObjectMetadata");
    },
  },
  {
    name: "PartialObjectMetadata leaves the rest out",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      const accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
      const list = await w.ok(w.send("GET", w.widgets(), undefined, { headers: { accept } }));
      assert.equal(list["kind"], "PartialObjectMetadataList");
      const item = objectsAt(list, "items")[0];
      assert.equal(metaOf(item)["name"], "a");
      assert.equal(item?.["spec"], undefined);
    },
  },
  {
    name: "clients that prefer protobuf get JSON",
    run: async (w) => {
      const accept = "application/vnd.kubernetes.example,application/json";
      const list = await w.ok(w.send("GET", w.core("configmaps"), undefined, { headers: { accept } }));
      assert.equal(list["kind"], "ConfigMapList");
    },
  },
  {
    name: "an Accept that cannot be served is NotAcceptable",
    run: async (w) => {
      assert.equal((await w.send("GET", w.core("configmaps"), undefined, { headers: { accept: "image/png" } })).status, 406);
    },
  },
];

/** Watches: start, selectors, bookmarks, revisions. */
export const watchCases: readonly ConformanceCase[] = [
  {
    name: "a watch from a revision delivers what came after, in order",
    run: async (w) => {
      const list = await w.ok(w.get(w.widgets()));
      await w.create(w.widgets(), w.widget("a"));
      await w.ok(w.patch(w.widgets("a"), "merge", { spec: { size: 2 } }));
      await w.ok(w.send("DELETE", w.widgets("a")));
      const events = await w.watch(w.widgets(), { resourceVersion: String(metaOf(list)["resourceVersion"]) }, (seen) => seen.length === 3);
      assert.deepEqual(describeEvents(events), ["ADDED a", "MODIFIED a", "DELETED a"]);
      const revisions = events.map((event) => Number(metaOf(event.object)["resourceVersion"]));
      assert.deepEqual(
        revisions,
        [...revisions].sort((a, b) => a - b),
      );
    },
  },
  {
    name: "a watch without a revision begins with what is there",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.create(w.widgets(), w.widget("b"));
      const events = await w.watch(w.widgets(), {}, (seen) => seen.length === 2);
      assert.deepEqual([...describeEvents(events)].sort(), ["ADDED a", "ADDED b"]);
    },
  },
  {
    name: "an object that stops matching is DELETED for the watcher",
    run: async (w) => {
      const list = await w.ok(w.get(w.widgets()));
      await w.create(w.widgets(), w.widget("a", { size: 1 }, { labels: { on: "1" } }));
      await w.ok(w.patch(w.widgets("a"), "merge", { metadata: { labels: { on: "0" } } }));
      await w.ok(w.patch(w.widgets("a"), "merge", { metadata: { labels: { on: "1" } } }));
      const query = { resourceVersion: String(metaOf(list)["resourceVersion"]), labelSelector: "on=1" };
      const events = await w.watch(w.widgets(), query, (seen) => seen.length === 3);
      assert.deepEqual(describeEvents(events), ["ADDED a", "DELETED a", "ADDED a"]);
      assert.deepEqual(metaOf(events[1]?.object)["labels"], { on: "1" });
    },
  },
  {
    name: "a watch of one name sees only it",
    run: async (w) => {
      const list = await w.ok(w.get(w.widgets()));
      await w.create(w.widgets(), w.widget("a"));
      await w.create(w.widgets(), w.widget("b"));
      const query = { resourceVersion: String(metaOf(list)["resourceVersion"]), fieldSelector: "metadata.name=b" };
      assert.deepEqual(describeEvents(await w.watch(w.widgets(), query, (seen) => seen.length === 1)), ["ADDED b"]);
    },
  },
  {
    name: "sendInitialEvents ends the present with an annotated bookmark",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      const query = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" };
      const events = await w.watch(w.widgets(), query, (seen) => seen.at(-1)?.type === "BOOKMARK");
      assert.equal(events[0]?.type, "ADDED");
      const bookmark = events.at(-1)?.object;
      assert.ok(isObject(bookmark));
      assert.equal(bookmark["kind"], "Widget");
      assert.equal(objectAt(metaOf(bookmark), "annotations")["k8s.io/initial-events-end"], "true");
      assert.match(String(metaOf(bookmark)["resourceVersion"]), /^\d+$/);
    },
  },
  {
    name: "sendInitialEvents needs resourceVersionMatch",
    run: async (w) => {
      const response = await w.transport.watch({
        method: "GET",
        path: w.widgets(),
        query: { watch: "true", sendInitialEvents: "true", allowWatchBookmarks: "true" },
      });
      assert.equal(response.status, 422);
    },
  },
  {
    name: "a watch ends cleanly at timeoutSeconds",
    run: async (w) => {
      const events = await w.watch(w.widgets(), { timeoutSeconds: "1" }, () => false);
      assert.deepEqual(events, []);
    },
  },
  {
    name: "a Table watch carries the columns in its first event",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      const controller = new AbortController();
      const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
      const stream = await w.transport.watch(
        { method: "GET", path: w.widgets(), query: { watch: "true" }, headers: { accept } },
        { signal: controller.signal },
      );
      for await (const event of stream.events) {
        assert.equal(objectsAt(event.object, "columnDefinitions")[0]?.["name"], "Name");
        assert.equal(objectsAt(event.object, "rows").length, 1);
        break;
      }
      controller.abort();
    },
  },
];
