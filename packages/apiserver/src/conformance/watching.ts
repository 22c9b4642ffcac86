import assert from "node:assert/strict";
import type { KubeWatchEvent } from "@talos-operator/ports";
import { objectAt, objectsAt, stringAt } from "../request/json.ts";
import { describeEvents, metaOf } from "./world.ts";
import type { ConformanceCase, World } from "./world.ts";

async function revisionNow(w: World): Promise<string> {
  return String(metaOf(await w.ok(w.get(w.widgets())))["resourceVersion"]);
}

const isBookmark = (event: KubeWatchEvent | undefined): boolean => event?.type === "BOOKMARK";

async function refuseWatch(w: World, query: Record<string, string>, status: number, field?: string): Promise<void> {
  const response = await w.transport.watch({ method: "GET", path: w.widgets(), query: { watch: "true", ...query } });
  assert.equal(response.status, status, JSON.stringify(response.body));
  if (field !== undefined) {
    const causes = objectsAt(objectAt(response.body, "details"), "causes");
    assert.ok(
      causes.some((cause) => cause["field"] === field),
      JSON.stringify(response.body),
    );
  }
}

/** More about watches: revisions, selectors, bookmarks, forms. */
export const watchingCases: readonly ConformanceCase[] = [
  {
    name: "resourceVersionMatch belongs to a watch only with sendInitialEvents",
    run: (w) => refuseWatch(w, { resourceVersionMatch: "NotOlderThan", resourceVersion: "0" }, 422, "resourceVersionMatch"),
  },
  {
    name: "sendInitialEvents goes with NotOlderThan only",
    run: (w) =>
      refuseWatch(
        w,
        { sendInitialEvents: "true", resourceVersionMatch: "Exact", allowWatchBookmarks: "true" },
        422,
        "resourceVersionMatch",
      ),
  },
  {
    name: "a watch goes on from a revision, not from a page",
    run: (w) => refuseWatch(w, { continue: "abc" }, 422, "resourceVersionMatch"),
  },
  {
    name: "one object is read, whatever is said of watching it",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      const { status, body } = await w.get(w.widgets("a"), { watch: "1" });
      assert.deepEqual([status, objectAt(body, "metadata")["name"]], [200, "a"]);
      await w.refused(w.get(w.widgets("b"), { watch: "1" }), { status: 404 });
    },
  },
  {
    name: "a timeout is a duration of Go",
    run: async (w) => {
      const get = (timeout: string): ReturnType<World["get"]> => w.get(w.widgets(), { timeout });
      const head = "invalid timeout specified in the request URL - time: ";
      await w.refused(get("x"), { status: 400, message: `${head}invalid duration "x"` });
      await w.refused(get("1"), { status: 400, message: `${head}missing unit in duration "1"` });
      await w.refused(get("1m5"), { status: 400, message: `${head}missing unit in duration "1m5"` });
      await w.refused(get("1y"), { status: 400, message: `${head}unknown unit "y" in duration "1y"` });
      await w.refused(get("-"), { status: 400, message: `${head}invalid duration "-"` });
      for (const good of ["", "34s", "1m30.5s", ".5h"]) assert.equal((await get(good)).status, 200, good);
    },
  },
  {
    name: "a watch at revision 0 begins with what is there",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      await w.ok(w.get(w.widgets()));
      const events = await w.watch(w.widgets(), { resourceVersion: "0" }, (seen) => seen.length === 1);
      assert.deepEqual(describeEvents(events), ["ADDED a"]);
    },
  },
  {
    name: "sendInitialEvents=false begins with the next change",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      const query = {
        sendInitialEvents: "false",
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: "true",
        resourceVersion: await revisionNow(w),
      };
      await w.create(w.widgets(), w.widget("b"));
      const events = await w.watch(w.widgets(), query, (seen) => seen.some((event) => !isBookmark(event)));
      assert.deepEqual(describeEvents(events.filter((event) => !isBookmark(event))), ["ADDED b"]);
    },
  },
  {
    name: "a streamed list of nothing is one bookmark",
    run: async (w) => {
      const query = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" };
      const events = await w.watch(w.widgets(), query, (seen) => isBookmark(seen.at(-1)));
      assert.equal(events.length, 1);
    },
  },
  {
    name: "a streamed list not older than a revision holds what was written then",
    run: async (w) => {
      const created = await w.create(w.widgets(), w.widget("a"));
      const query = {
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: "true",
        resourceVersion: String(metaOf(created)["resourceVersion"]),
      };
      const events = await w.watch(w.widgets(), query, (seen) => isBookmark(seen.at(-1)));
      assert.deepEqual(describeEvents(events)[0], "ADDED a");
      assert.ok(Number(metaOf(events.at(-1)?.object)["resourceVersion"]) >= Number(query.resourceVersion));
    },
  },
  {
    name: "a streamed list obeys selectors",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a", { size: 1 }, { labels: { on: "1" } }));
      await w.create(w.widgets(), w.widget("b"));
      const query = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true", labelSelector: "on=1" };
      const events = await w.watch(w.widgets(), query, (seen) => isBookmark(seen.at(-1)));
      assert.deepEqual(describeEvents(events.slice(0, -1)), ["ADDED a"]);
    },
  },
  {
    name: "a watch continues after the streamed list",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      const query = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" };
      let isCreated = false;
      const events = await w.watch(w.widgets(), query, (seen) => {
        if (isBookmark(seen.at(-1)) && !isCreated) {
          isCreated = true;
          void w.create(w.widgets(), w.widget("b"));
        }
        return describeEvents(seen).includes("ADDED b");
      });
      assert.deepEqual(describeEvents(events.filter((event) => !isBookmark(event))), ["ADDED a", "ADDED b"]);
    },
  },
  {
    name: "a watch by a selectable field sees objects come and go",
    run: async (w) => {
      const resourceVersion = await revisionNow(w);
      await w.create(w.widgets(), w.widget("a", { size: 1, color: "blue" }));
      await w.ok(w.patch(w.widgets("a"), "merge", { spec: { color: "red" } }));
      await w.create(w.widgets(), w.widget("b", { size: 1, color: "red" }));
      await w.ok(w.patch(w.widgets("b"), "merge", { spec: { color: "blue" } }));
      const events = await w.watch(w.widgets(), { resourceVersion, fieldSelector: "spec.color=blue" }, (seen) => seen.length === 3);
      assert.deepEqual(describeEvents(events), ["ADDED a", "DELETED a", "ADDED b"]);
    },
  },
  {
    name: "a write that changes nothing is no event",
    run: async (w) => {
      const created = await w.create(w.widgets(), w.widget("a"));
      await w.ok(w.patch(w.widgets("a"), "merge", { spec: { size: 1 } }));
      await w.ok(w.patch(w.widgets("a"), "merge", { spec: { size: 2 } }));
      const events = await w.watch(
        w.widgets(),
        { resourceVersion: String(metaOf(created)["resourceVersion"]) },
        (seen) => seen.length === 1,
      );
      assert.equal(objectAt(events[0]?.object, "spec")["size"], 2);
    },
  },
  {
    name: "a dry run is no event",
    run: async (w) => {
      const resourceVersion = await revisionNow(w);
      await w.create(w.widgets(), w.widget("dry"), { dryRun: "All" });
      await w.create(w.widgets(), w.widget("wet"));
      assert.deepEqual(describeEvents(await w.watch(w.widgets(), { resourceVersion }, (seen) => seen.length === 1)), ["ADDED wet"]);
    },
  },
  {
    name: "the event of a deletion carries the revision of the deletion",
    run: async (w) => {
      const created = await w.create(w.widgets(), w.widget("a"));
      await w.ok(w.send("DELETE", w.widgets("a")));
      const events = await w.watch(
        w.widgets(),
        { resourceVersion: String(metaOf(created)["resourceVersion"]) },
        (seen) => seen.length === 1,
      );
      assert.equal(events[0]?.type, "DELETED");
      assert.ok(Number(metaOf(events[0].object)["resourceVersion"]) > Number(metaOf(created)["resourceVersion"]));
    },
  },
  {
    name: "a change of status is MODIFIED for who watches the objects",
    run: async (w) => {
      const created = await w.create(w.widgets(), w.widget("a"));
      await w.ok(w.patch(w.widgets("a/status"), "merge", { status: { phase: "Ready" } }));
      const events = await w.watch(
        w.widgets(),
        { resourceVersion: String(metaOf(created)["resourceVersion"]) },
        (seen) => seen.length === 1,
      );
      assert.deepEqual(objectAt(events[0]?.object, "status"), { phase: "Ready" });
    },
  },
  {
    name: "a watch over all namespaces sees each of them",
    run: async (w) => {
      const resourceVersion = await revisionNow(w);
      await w.create(w.widgets(), w.widget("a"));
      const events = await w.watch("/apis/conformance.example.com/v1/widgets", { resourceVersion }, (seen) =>
        seen.some((event) => metaOf(event.object)["namespace"] === w.namespace),
      );
      assert.equal(events.at(-1)?.type, "ADDED");
    },
  },
  {
    name: "a watch of one namespace sees no other",
    run: async (w) => {
      const resourceVersion = await revisionNow(w);
      await w.create("/apis/conformance.example.com/v1/namespaces/default/widgets", {
        ...w.widget(`other-${w.namespace}`),
        metadata: { name: `other-${w.namespace}` },
      });
      await w.create(w.widgets(), w.widget("a"));
      assert.deepEqual(describeEvents(await w.watch(w.widgets(), { resourceVersion }, (seen) => seen.length === 1)), ["ADDED a"]);
    },
  },
  {
    name: "events of a watch for metadata carry only that",
    run: async (w) => {
      await w.create(w.widgets(), w.widget("a"));
      const controller = new AbortController();
      const accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
      const stream = await w.transport.watch(
        { method: "GET", path: w.widgets(), query: { watch: "true" }, headers: { accept } },
        { signal: controller.signal },
      );
      for await (const event of stream.events) {
        assert.equal(stringAt(event.object, "kind"), "PartialObjectMetadata");
        assert.deepEqual(objectAt(event.object, "spec"), {});
        break;
      }
      controller.abort();
    },
  },
  {
    name: "events of built-in kinds say what they are",
    run: async (w) => {
      await w.create(w.core("secrets"), { metadata: { name: "a" } });
      const events = await w.watch(w.core("secrets"), {}, (seen) => seen.length === 1);
      assert.equal(stringAt(events[0]?.object, "kind"), "Secret");
    },
  },
];
