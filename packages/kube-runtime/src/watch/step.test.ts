import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KubeWatchEvent } from "@talos-operator/ports";
import type { KubeObject } from "../objects/kube-object.ts";
import { statusObject } from "../testing/index.ts";
import type { Change, Listed } from "./relist-diff.ts";
import { type InformerInput, type InformerState, type InformerStep, stepInformer } from "./step.ts";

const thing = (name: string, resourceVersion: string, uid = `uid-${name}`): KubeObject => ({
  metadata: { name, namespace: "ns", uid, resourceVersion },
});
const cache = (...objects: readonly KubeObject[]): ReadonlyMap<string, KubeObject> =>
  new Map(objects.map((object) => [`ns/${object.metadata?.name ?? ""}`, object]));
const watching = (resourceVersion: string, more: Partial<{ failures: number; hasProgress: boolean }> = {}): InformerState => ({
  phase: "watching",
  canStream: false,
  resourceVersion,
  failures: 0,
  hasProgress: false,
  fruitlessLists: 0,
  ...more,
});
const listing = (more: Partial<Extract<InformerState, { phase: "listing" }>> = {}): InformerState => ({
  phase: "listing",
  by: "pages",
  canStream: false,
  previous: undefined,
  listed: undefined,
  next: undefined,
  expiredPages: 0,
  doubts: 0,
  failures: 0,
  hasChanged: false,
  fruitlessLists: 0,
  ...more,
});
const keys = (...listed: readonly string[]): Listed => ({ keys: listed, isThere: true, before: undefined });
const streaming = (more: Partial<Extract<InformerState, { phase: "listing" }>> = {}): InformerState =>
  listing({ by: "stream", canStream: true, ...more });
const end = (resourceVersion: string): InformerInput<KubeObject> =>
  event("BOOKMARK", { metadata: { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } } });
const event = (type: KubeWatchEvent["type"], object: unknown): InformerInput<KubeObject> => ({ kind: "event", event: { type, object } });
const bookmark = (resourceVersion: string): InformerInput<KubeObject> => event("BOOKMARK", { metadata: { resourceVersion } });
const page = (items: readonly KubeObject[], resourceVersion: string, next?: string): InformerInput<KubeObject> => ({
  kind: "page",
  items,
  resourceVersion,
  next,
});
const ended = (isClean: boolean, livedMs = 60_000, isStalled = false): InformerInput<KubeObject> => ({
  kind: "watch-ended",
  isClean,
  livedMs,
  isStalled,
});
const refused = (status: number, retryAfterMs?: number): InformerInput<KubeObject> => ({
  kind: "watch-refused",
  status,
  retryAfterMs,
  isVersionTooNew: false,
});

/** One line per step: where it stands, what it tells, what it does next. */
function summary({ state, changes, order }: InformerStep<KubeObject>): string {
  const where = state.phase === "watching" ? `watching@${state.resourceVersion}` : state.phase;
  const told = changes.map(
    (change) => `${change.type} ${change.object.metadata?.name ?? ""}@${change.object.metadata?.resourceVersion ?? ""}`,
  );
  const wait =
    order.do === "read" || order.wait.atLeastMs + order.wait.jitterMs === 0 ? "" : ` in ${order.wait.atLeastMs}+${order.wait.jitterMs} ms`;
  const next = order.do === "list" && order.next !== undefined ? ` after ${order.next}` : "";
  const whole = order.do === "list" && !order.isPaged ? " whole" : "";
  return `${where}; ${told.join(", ") || "-"}; ${order.do}${next}${whole}${wait}`;
}

const a1 = thing("a", "11");
const b1 = thing("b", "12");

describe("informer step", () => {
  const cases: readonly {
    readonly name: string;
    readonly state: InformerState;
    readonly known?: ReadonlyMap<string, KubeObject>;
    readonly inputs: readonly InformerInput<KubeObject>[];
    readonly want: string;
  }[] = [
    { name: "begins with a list", state: { phase: "empty" }, inputs: [{ kind: "start", canStream: false }], want: "listing; -; list" },
    {
      name: "asks for the next page with its token",
      state: listing(),
      inputs: [page([a1], "20", "t1")],
      want: "listing; added a@11; list after t1",
    },
    {
      name: "takes each page into the cache as it comes",
      state: listing(),
      inputs: [page([a1], "20", "t1"), page([b1], "20")],
      want: "watching@20; added a@11, added b@12; watch",
    },
    { name: "is complete with an empty first list", state: listing(), inputs: [page([], "20")], want: "watching@20; -; watch" },
    {
      name: "does not believe an empty list when the cache holds objects",
      state: listing({ previous: "20" }),
      known: cache(a1),
      inputs: [page([], "30")],
      want: "listing; -; list in 1000+500 ms",
    },
    {
      name: "believes an empty list the third time",
      state: listing({ previous: "20" }),
      known: cache(a1),
      inputs: [page([], "30"), page([], "30"), page([], "31")],
      want: "watching@31; deleted a@11; watch",
    },
    {
      name: "does not believe a list that is older than the cache",
      state: listing({ previous: "30" }),
      known: cache(a1),
      inputs: [page([thing("a", "9")], "25")],
      want: "listing; -; list in 1000+500 ms",
    },
    {
      name: "follows a store that went back once it is sure",
      state: listing({ previous: "30" }),
      known: cache(a1),
      inputs: [page([thing("a", "9")], "25"), page([thing("a", "9")], "25"), page([thing("a", "9")], "25")],
      want: "watching@25; updated a@9; watch",
    },
    {
      name: "tells after a relist only what differs: gone, changed, new, created again",
      state: listing({ previous: "20" }),
      known: cache(a1, b1, thing("c", "13"), thing("d", "14")),
      inputs: [page([a1, thing("b", "25"), thing("d", "26", "uid-d2"), thing("e", "27")], "30")],
      want: "watching@30; deleted c@13, updated b@25, deleted d@14, added d@26, added e@27; watch",
    },
    {
      name: "repeats the failed page and not the whole list",
      state: listing({ listed: keys("ns/a"), next: "t1" }),
      inputs: [{ kind: "list-failed", status: 503, retryAfterMs: undefined }],
      want: "listing; -; list after t1 in 50+50 ms",
    },
    {
      name: "waits as long as the server asks, but never longer than a minute",
      state: listing(),
      inputs: [{ kind: "list-failed", status: 429, retryAfterMs: 3_600_000 }],
      want: "listing; -; list in 60000+50 ms",
    },
    {
      name: "begins again when the continue token expired",
      state: listing({ listed: keys("ns/a"), next: "t1" }),
      inputs: [{ kind: "list-failed", status: 410, retryAfterMs: undefined }],
      want: "listing; -; list in 50+50 ms",
    },
    {
      name: "reads the list in one piece when tokens keep expiring",
      state: listing({ listed: keys("ns/a"), next: "t1", expiredPages: 1, failures: 1 }),
      inputs: [{ kind: "list-failed", status: 410, retryAfterMs: undefined }],
      want: "listing; -; list whole in 100+100 ms",
    },
    { name: "reads an opened watch", state: watching("20"), inputs: [{ kind: "watch-opened" }], want: "watching@20; -; read" },
    {
      name: "tells an added object",
      state: watching("20"),
      inputs: [event("ADDED", thing("a", "21"))],
      want: "watching@21; added a@21; read",
    },
    {
      name: "tells a modified object that it did not know as added",
      state: watching("20"),
      inputs: [event("MODIFIED", thing("a", "21"))],
      want: "watching@21; added a@21; read",
    },
    {
      name: "tells a modified object",
      state: watching("20"),
      known: cache(a1),
      inputs: [event("MODIFIED", thing("a", "21"))],
      want: "watching@21; updated a@21; read",
    },
    {
      name: "tells a deletion with the last state",
      state: watching("20"),
      known: cache(a1),
      inputs: [event("DELETED", thing("a", "21"))],
      want: "watching@21; deleted a@21; read",
    },
    {
      name: "says nothing about a deletion of what it never knew",
      state: watching("20"),
      inputs: [event("DELETED", thing("x", "21"))],
      want: "watching@21; -; read",
    },
    {
      name: "takes another uid under the same name for deleted and created again",
      state: watching("20"),
      known: cache(a1),
      inputs: [event("ADDED", thing("a", "21", "uid-a2"))],
      want: "watching@21; deleted a@11, added a@21; read",
    },
    {
      name: "ignores an event that the cache has already seen",
      state: watching("20"),
      known: cache(a1),
      inputs: [event("ADDED", a1)],
      want: "watching@20; -; read",
    },
    {
      name: "ignores a late event with an older resourceVersion of the object",
      state: watching("20"),
      known: cache(thing("a", "18")),
      inputs: [event("MODIFIED", thing("a", "15"))],
      want: "watching@20; -; read",
    },
    {
      name: "ignores a repeated deletion",
      state: watching("20"),
      inputs: [event("DELETED", thing("a", "15"))],
      want: "watching@20; -; read",
    },
    {
      name: "delivers nothing from an old event about an unknown object, and lists to learn the truth",
      state: watching("20"),
      inputs: [event("ADDED", thing("x", "15"))],
      want: "listing; -; list in 50+50 ms",
    },
    { name: "moves on with a bookmark", state: watching("20"), inputs: [bookmark("25")], want: "watching@25; -; read" },
    {
      name: "does not take a bookmark that brings nothing new for progress",
      state: watching("20", { failures: 6 }),
      inputs: [bookmark("20"), event("ERROR", statusObject(410, "Expired", "too old resource version"))],
      want: "listing; -; list in 3200+3200 ms",
    },
    {
      name: "does not delete what was created again for a deletion of its predecessor",
      state: watching("20"),
      known: cache(thing("a", "19", "uid-a2")),
      inputs: [event("DELETED", thing("a", "21", "uid-a1"))],
      want: "watching@21; -; read",
    },
    { name: "lists when a bookmark goes back", state: watching("20"), inputs: [bookmark("15")], want: "listing; -; list in 50+50 ms" },
    {
      name: "watches on from the last event when no bookmark came",
      state: watching("20"),
      inputs: [{ kind: "watch-opened" }, event("ADDED", thing("a", "21")), ended(true)],
      want: "watching@21; added a@21; watch",
    },
    { name: "opens the next watch at once after a clean end", state: watching("20"), inputs: [ended(true)], want: "watching@20; -; watch" },
    { name: "waits a little after a drop", state: watching("20"), inputs: [ended(false)], want: "watching@20; -; watch in 50+50 ms" },
    {
      name: "does not ask in a tight loop when each watch ends at once in good order",
      state: watching("20", { failures: 2 }),
      inputs: [ended(true, 0)],
      want: "watching@20; -; watch in 200+200 ms",
    },
    {
      name: "forgets its failures when a list brought something, by pages",
      state: listing({ previous: "20", failures: 7 }),
      inputs: [page([a1], "30"), ended(false, 0)],
      want: "watching@30; added a@11; watch in 50+50 ms",
    },
    {
      name: "forgets its failures when a list brought something, by stream",
      state: streaming({ failures: 7 }),
      inputs: [event("ADDED", a1), end("30"), ended(false, 0)],
      want: "watching@30; added a@11; watch in 50+50 ms",
    },
    {
      name: "remembers its failures after a list that brought nothing",
      state: listing({ previous: "20", failures: 3 }),
      known: cache(a1),
      inputs: [page([a1], "30"), ended(false, 0)],
      want: "watching@30; -; watch in 400+400 ms",
    },
    {
      name: "slows down when list after list brings something and each watch says 410",
      state: listing({ fruitlessLists: 5 }),
      inputs: [page([a1], "30"), { kind: "watch-opened" }, event("ERROR", statusObject(410, "Expired", "too old resource version"))],
      want: "listing; added a@11; list in 800+800 ms",
    },
    {
      name: "forgets its failures once a watch has lived",
      state: watching("20", { failures: 7 }),
      inputs: [{ kind: "watch-opened" }, { kind: "watch-lived" }, ended(false, 0)],
      want: "watching@20; -; watch in 50+50 ms",
    },
    {
      name: "lists after five failures without progress",
      state: watching("20", { failures: 4 }),
      inputs: [ended(false, 0)],
      want: "listing; -; list in 800+800 ms",
    },
    {
      name: "lists when the watch is refused with 410",
      state: watching("20"),
      inputs: [refused(410)],
      want: "listing; -; list in 50+50 ms",
    },
    {
      name: "lists when the watch brings a 410 event",
      state: watching("20", { hasProgress: true }),
      inputs: [event("ERROR", statusObject(410, "Expired", "too old resource version"))],
      want: "listing; -; list in 50+50 ms",
    },
    {
      name: "slows down when every watch ends with a 410 event",
      state: watching("20", { failures: 6 }),
      inputs: [event("ERROR", statusObject(410, "Expired", "too old resource version"))],
      want: "listing; -; list in 3200+3200 ms",
    },
    {
      name: "resumes after another error event",
      state: watching("20"),
      inputs: [event("ERROR", statusObject(500, "InternalError", "etcd is away"))],
      want: "watching@20; -; watch in 50+50 ms",
    },
    {
      name: "keeps its version when the watch is refused for overload",
      state: watching("20"),
      inputs: [refused(429, 7_000)],
      want: "watching@20; -; watch in 7000+50 ms",
    },
    {
      name: "keeps trying when it is not allowed to watch",
      state: watching("20"),
      inputs: [refused(403)],
      want: "watching@20; -; watch in 50+50 ms",
    },
    {
      name: "lists when the kind is not served any more",
      state: watching("20"),
      inputs: [refused(404)],
      want: "listing; -; list in 50+50 ms",
    },
    {
      name: "lists when its version is newer than the server's",
      state: watching("20"),
      inputs: [{ kind: "watch-refused", status: 504, retryAfterMs: undefined, isVersionTooNew: true }],
      want: "listing; -; list in 50+50 ms",
    },
    {
      name: "takes an event without resourceVersion for a broken watch",
      state: watching("20"),
      inputs: [event("ADDED", { metadata: { name: "a" } })],
      want: "watching@20; -; watch in 50+50 ms",
    },
    {
      name: "begins with a stream where it may",
      state: { phase: "empty" },
      inputs: [{ kind: "start", canStream: true }],
      want: "listing; -; stream",
    },
    {
      name: "takes a streamed list object by object, and follows the same watch on",
      state: streaming(),
      inputs: [{ kind: "watch-opened" }, event("ADDED", a1), event("ADDED", b1), end("20"), event("MODIFIED", thing("a", "21"))],
      want: "watching@21; added a@11, added b@12, updated a@21; read",
    },
    {
      name: "deletes at the end of a streamed list what it did not bring",
      state: streaming({ previous: "20" }),
      known: cache(a1, b1, thing("c", "13")),
      inputs: [event("ADDED", a1), event("ADDED", thing("b", "25")), end("30")],
      want: "watching@30; updated b@25, deleted c@13; read",
    },
    {
      name: "is complete with an empty first stream",
      state: streaming(),
      inputs: [end("20")],
      want: "watching@20; -; read",
    },
    {
      name: "does not take just any bookmark for the end of a streamed list",
      state: streaming({ previous: "20" }),
      known: cache(a1),
      inputs: [event("ADDED", thing("b", "25")), bookmark("30")],
      want: "listing; added b@25; read",
    },
    {
      name: "forgets what was deleted while the stream still told the beginning",
      state: streaming({ previous: "20" }),
      known: cache(a1, b1),
      inputs: [event("ADDED", a1), event("ADDED", b1), event("DELETED", thing("a", "31")), end("31")],
      want: "watching@31; deleted a@31; read",
    },
    {
      name: "keeps what was deleted and created again while the stream still told the beginning",
      state: streaming({ previous: "20" }),
      known: cache(a1),
      inputs: [event("ADDED", a1), event("DELETED", thing("a", "31")), event("ADDED", thing("a", "32", "uid-a2")), end("32")],
      want: "watching@32; deleted a@31, added a@32; read",
    },
    {
      name: "asks in pages before it believes an empty stream",
      state: streaming({ previous: "20" }),
      known: cache(a1),
      inputs: [end("30")],
      want: "listing; -; list in 1000+500 ms",
    },
    {
      name: "asks in pages before it believes a stream that is older than the cache",
      state: streaming({ previous: "20" }),
      known: cache(a1),
      inputs: [event("ADDED", thing("a", "9"))],
      want: "listing; -; list in 1000+500 ms",
    },
    {
      name: "asks in pages at once when streamed lists are not offered, and does not ask again",
      state: streaming(),
      inputs: [refused(422), page([a1], "20"), refused(410)],
      want: "listing; added a@11; list in 50+50 ms",
    },
    {
      name: "streams again after a drop in the middle",
      state: streaming(),
      inputs: [event("ADDED", a1), ended(false)],
      want: "listing; added a@11; stream in 50+50 ms",
    },
    {
      name: "asks in pages after two streams that broke",
      state: streaming(),
      inputs: [ended(false), ended(false)],
      want: "listing; -; list in 100+100 ms",
    },
    {
      name: "asks in pages, and does not stream again, when a stream never comes to its end",
      state: streaming(),
      inputs: [ended(false, 60_000, true), page([a1], "20"), refused(410)],
      want: "listing; added a@11; list in 50+50 ms",
    },
    {
      name: "waits as long as the server asks before it streams again",
      state: streaming(),
      inputs: [refused(429, 7_000)],
      want: "listing; -; stream in 7000+50 ms",
    },
    {
      name: "streams again when the stream says 410",
      state: streaming(),
      inputs: [event("ERROR", statusObject(410, "Expired", "too old resource version"))],
      want: "listing; -; stream in 50+50 ms",
    },
    {
      name: "slows down when every stream ends with 410 right after its list",
      state: streaming({ canStream: true, failures: 6 }),
      inputs: [end("20"), event("ERROR", statusObject(410, "Expired", "too old resource version"))],
      want: "listing; -; stream in 3200+3200 ms",
    },
    {
      name: "never waits longer than thirty seconds by itself",
      state: watching("20", { failures: 40 }),
      inputs: [refused(503)],
      want: "watching@20; -; watch in 15000+15000 ms",
    },
  ];
  for (const { name, state, known = cache(), inputs, want } of cases) {
    it(name, () => {
      let result: InformerStep<KubeObject> | undefined;
      const held = new Map(known);
      const changes: Change<KubeObject>[] = [];
      for (const input of inputs) {
        result = stepInformer(result?.state ?? state, input, held);
        for (const change of result.changes) {
          if (change.type === "deleted") held.delete(change.key);
          else held.set(change.key, change.object);
        }
        changes.push(...result.changes);
      }
      assert.ok(result);
      assert.equal(summary({ ...result, changes }), want);
    });
  }

  it("keeps the cached object for what did not change, so that a relist needs no second copy", () => {
    const again = structuredClone(a1);
    const known = cache(a1);
    assert.deepEqual(stepInformer(listing({ previous: "20" }), page([again], "30", "t1"), known).changes, []);
    assert.deepEqual(stepInformer(streaming({ previous: "20" }), event("ADDED", again), known).changes, []);
  });

  it("believes each kind of object once per page, however often the page names it", () => {
    const { changes } = stepInformer(listing(), page([a1, thing("a", "12")], "30"), cache());
    assert.deepEqual(
      changes.map((change) => `${change.type} ${change.object.metadata?.resourceVersion ?? ""}`),
      ["added 12"],
    );
  });
});
