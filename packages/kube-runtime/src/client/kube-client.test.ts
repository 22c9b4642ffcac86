import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KubeObject } from "../objects/kube-object.ts";
import type { ResourceType } from "../request/resource-type.ts";
import { createScriptedTransport, createSeededRandom, createVirtualTime, type ScriptedAnswer, statusObject } from "../testing/index.ts";
import type { KubeApiErrorCode } from "./error-codes.ts";
import { fieldConflictsOf, isNotFound, isOutcomeUnknown } from "./error-predicates.ts";
import { KubeApiError } from "./kube-api-error.ts";
import { createKubeClient } from "./kube-client.ts";
import type { ResourceClient } from "./resource-client.ts";

const type: ResourceType = { group: "example.dev", version: "v1", plural: "things", kind: "Thing", namespaced: true };
const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
const key = { namespace: "ns", name: "a" };
const thing: KubeObject = { metadata: { namespace: "ns", name: "a", resourceVersion: "1" } };
const answered = (body: unknown): ScriptedAnswer => ({ status: 200, body });
const busy = (status: number, retryAfter?: string): ScriptedAnswer => ({
  status,
  body: statusObject(status, "TooManyRequests", "busy"),
  ...(retryAfter === undefined ? {} : { headers: { "retry-after": retryAfter } }),
});

function start(script: (attempt: number) => ScriptedAnswer, resourceType: ResourceType = type) {
  const time = createVirtualTime();
  const transport = createScriptedTransport((_, attempt) => script(attempt));
  const client = createKubeClient(transport, { timers: time.timers, random: createSeededRandom(1) });
  return { time, transport, client, things: client.resource(resourceType) };
}

async function errorOf(call: Promise<unknown>): Promise<KubeApiError> {
  try {
    await call;
  } catch (thrown) {
    assert.ok(thrown instanceof KubeApiError, `not a KubeApiError: ${String(thrown)}`);
    return thrown;
  }
  throw new assert.AssertionError({ message: "the call did not fail" });
}

describe("retries of the client", () => {
  const calls: readonly {
    readonly name: string;
    readonly call: (things: ResourceClient<KubeObject>) => Promise<unknown>;
    readonly isRepeated: boolean;
  }[] = [
    { name: "get", call: (things) => things.get(key), isRepeated: true },
    { name: "update", call: (things) => things.update(thing), isRepeated: true },
    { name: "delete", call: (things) => things.delete(key), isRepeated: true },
    {
      name: "apply",
      call: (things) => things.apply({ metadata: { namespace: "ns", name: "a" } }, { fieldManager: "me" }),
      isRepeated: true,
    },
    { name: "merge patch", call: (things) => things.patch(key, { type: "merge", value: {} }), isRepeated: true },
    { name: "json patch", call: (things) => things.patch(key, { type: "json", operations: [] }), isRepeated: false },
    { name: "create", call: (things) => things.create(thing), isRepeated: false },
  ];
  for (const { name, call, isRepeated } of calls) {
    it(`${isRepeated ? "repeats" : "does not repeat"} ${name} after 429`, async () => {
      const { time, transport, things } = start((attempt) => (attempt < 2 ? busy(429) : answered(thing)));
      const result = call(things).catch((error: unknown) => error);
      await time.advance(10_000);
      const isError = (await result) instanceof KubeApiError;
      assert.deepEqual([transport.requests.length, isError], isRepeated ? [3, false] : [1, true]);
    });
  }

  it("waits at least as long as the server asked", async () => {
    const { time, transport, things } = start((attempt) => (attempt === 0 ? busy(503, "7") : answered(thing)));
    const result = things.get(key);
    await time.advance(6_999);
    assert.equal(transport.requests.length, 1);
    await time.advance(300);
    await result;
    assert.equal(transport.requests.length, 2);
  });

  it("leaves a wait of an hour to the caller and says how long it is", async () => {
    const { transport, things } = start(() => busy(429, "3600"));
    const error = await errorOf(things.get(key));
    assert.deepEqual(
      [error.code, error.retryAfterMs, error.retry, transport.requests.length],
      ["TOO_MANY_REQUESTS", 3_600_000, "backoff", 1],
    );
  });

  it("gives up after four attempts", async () => {
    const { time, transport, things } = start(() => busy(503));
    const error = errorOf(things.get(key));
    await time.advance(60_000);
    assert.equal((await error).code, "UNAVAILABLE");
    assert.equal(transport.requests.length, 4);
  });

  it("says that the effect of a write without answer is unknown, and of a read nothing of the kind", async () => {
    const { things } = start(() => ({ failWith: "socket hang up" }));
    assert.match((await errorOf(things.update(thing))).message, /unknown whether the call took effect/);
    for (const read of [() => things.get(key), () => things.tryGet(key), () => things.list()])
      assert.match((await errorOf(read())).message, /socket hang up\. Check that the API server runs and can be reached, then repeat$/);
    const { things: slow } = start(() => ({ status: 504, body: statusObject(504, "Timeout", "late") }));
    assert.doesNotMatch((await errorOf(slow.get(key))).message, /took effect/);
    assert.match((await errorOf(slow.update(thing))).message, /took effect/);
  });

  it("never repeats a call that got no answer", async () => {
    const { transport, things } = start(() => ({ failWith: "socket hang up" }));
    const error = await errorOf(things.update(thing));
    assert.deepEqual([error.code, transport.requests.length, isOutcomeUnknown(error)], ["NO_ANSWER", 1, true]);
  });

  it("stops waiting when the caller gives up", async () => {
    const { time, things } = start(() => busy(503, "9"));
    const abort = new AbortController();
    const error = errorOf(things.get(key, { signal: abort.signal }));
    await time.advance(1_000);
    abort.abort();
    assert.equal((await error).code, "CANCELED");
    assert.equal(time.pending(), 0);
  });
});

describe("the field manager of the client", () => {
  const sent = async (call: (things: ResourceClient<KubeObject>) => Promise<unknown>, manager?: string): Promise<unknown> => {
    const transport = createScriptedTransport(() => answered(thing));
    await call(createKubeClient(transport, undefined, manager).resource(type));
    return transport.requests[0]?.query?.["fieldManager"];
  };
  it("is on every write that names none itself, and on no read", async () => {
    assert.equal(await sent((things) => things.create(thing), "us"), "us");
    assert.equal(await sent((things) => things.update(thing), "us"), "us");
    assert.equal(await sent((things) => things.patch(key, { type: "json", operations: [] }), "us"), "us");
    assert.equal(await sent((things) => things.patch(key, { type: "merge", value: {} }, { fieldManager: "me" }), "us"), "me");
    assert.equal(await sent((things) => things.get(key), "us"), undefined);
    assert.equal(await sent((things) => things.update(thing)), undefined);
  });
});

describe("errors of the client", () => {
  const notFound = { ...statusObject(404, "NotFound", 'things "a" not found'), details: { name: "a", kind: "things" } };
  const cases: readonly { readonly name: string; readonly answer: ScriptedAnswer; readonly want: KubeApiErrorCode }[] = [
    { name: "the object is not there", answer: { status: 404, body: notFound }, want: "NOT_FOUND" },
    { name: "the path is not served", answer: { status: 404, body: "404 page not found\n" }, want: "NOT_SERVED" },
    {
      name: "a 404 is about something else",
      answer: { status: 404, body: { ...notFound, details: { name: "other" } } },
      want: "NOT_SERVED",
    },
    {
      name: "a 404 names nothing",
      answer: { status: 404, body: statusObject(404, "NotFound", "the server could not find the requested resource") },
      want: "NOT_SERVED",
    },
    { name: "it exists", answer: { status: 409, body: statusObject(409, "AlreadyExists", "exists") }, want: "ALREADY_EXISTS" },
    { name: "it changed", answer: { status: 409, body: statusObject(409, "Conflict", "modified") }, want: "CONFLICT" },
    { name: "it is invalid", answer: { status: 422, body: statusObject(422, "Invalid", "bad") }, want: "INVALID" },
    { name: "the request is bad", answer: { status: 400, body: statusObject(400, "BadRequest", "bad") }, want: "BAD_REQUEST" },
    { name: "nobody is logged in", answer: { status: 401, body: statusObject(401, "Unauthorized", "no") }, want: "UNAUTHORIZED" },
    { name: "the right is missing", answer: { status: 403, body: statusObject(403, "Forbidden", "no") }, want: "FORBIDDEN" },
    { name: "the version is too old", answer: { status: 410, body: statusObject(410, "Expired", "old") }, want: "EXPIRED" },
    {
      name: "the object is too large",
      answer: { status: 413, body: statusObject(413, "RequestEntityTooLarge", "large") },
      want: "TOO_LARGE",
    },
    {
      name: "the patch type is unknown",
      answer: { status: 415, body: statusObject(415, "UnsupportedMediaType", "no") },
      want: "UNSUPPORTED",
    },
    { name: "the server failed", answer: { status: 500, body: statusObject(500, "InternalError", "etcd") }, want: "SERVER_ERROR" },
    {
      name: "a proxy failed with HTML",
      answer: { status: 500, body: "<html>", headers: { "content-type": "text/html" } },
      want: "UNEXPECTED_ANSWER",
    },
    { name: "the server ran out of time", answer: { status: 504, body: statusObject(504, "Timeout", "late") }, want: "SERVER_TIMEOUT" },
    { name: "a login page answers 200", answer: { status: 200, body: "<html>log in</html>" }, want: "UNEXPECTED_ANSWER" },
    {
      name: "a Status answers 200",
      answer: { status: 200, body: { kind: "Status", metadata: {}, status: "Success" } },
      want: "UNEXPECTED_ANSWER",
    },
    { name: "the connection broke", answer: { failWith: "ECONNRESET" }, want: "NO_ANSWER" },
  ];
  for (const { name, answer, want } of cases) {
    it(`says ${want} when ${name}`, async () => {
      const client = createKubeClient(createScriptedTransport(() => answer));
      const error = await errorOf(client.resource(type).get(key));
      assert.equal(error.code, want);
      assert.ok(error.message.startsWith(`${want}: get things ns/a: `), error.message);
      assert.equal(isNotFound(error), want === "NOT_FOUND");
    });
  }

  it("takes only a named NotFound for absence", async () => {
    const { things } = start((attempt) => (attempt === 0 ? { status: 404, body: notFound } : { status: 404, body: "nginx" }));
    assert.equal(await things.tryGet(key), undefined);
    assert.equal((await errorOf(things.tryGet(key))).code, "NOT_SERVED");
  });

  it("names fields and managers of an apply conflict", async () => {
    const body = {
      ...statusObject(409, "Conflict", "Apply failed with 1 conflict"),
      details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "kubectl" using v1', field: ".spec.x" }] },
    };
    const { things } = start(() => ({ status: 409, body }));
    const error = await errorOf(things.apply({ metadata: { namespace: "ns", name: "a" } }, { fieldManager: "me" }));
    assert.equal(error.code, "APPLY_CONFLICT");
    assert.deepEqual(fieldConflictsOf(error), [{ field: ".spec.x", manager: "kubectl" }]);
  });

  it("quotes nothing that the server says about a Secret", async () => {
    const body = {
      ...statusObject(422, "Invalid", 'Secret "a" is invalid: data[key]: Invalid value: "hunter2"'),
      details: { name: "a", causes: [{ reason: "FieldValueInvalid", message: 'Invalid value: "hunter2"', field: "data[key]" }] },
    };
    const { things } = start(() => ({ status: 422, body }), secrets);
    const error = await errorOf(things.create(thing));
    assert.ok(!JSON.stringify([error.message, error.causes, error.stack]).includes("hunter2"));
    assert.match(error.message, /data\[key\]/);
  });

  it("sends nothing for a call that cannot be expressed", async () => {
    const { transport, things } = start(() => answered(thing));
    assert.equal((await errorOf(things.get({ name: "a" }))).code, "INVALID_CALL");
    assert.equal((await errorOf(things.create({ metadata: { name: "a" } }))).code, "INVALID_CALL");
    assert.equal((await errorOf(things.update({ metadata: { namespace: "ns" } }))).code, "INVALID_CALL");
    assert.equal(transport.requests.length, 0);
  });
});

describe("lists and watches of the client", () => {
  const page = (names: readonly string[], next?: string) =>
    answered({
      kind: "ThingList",
      metadata: { resourceVersion: "9", continue: next ?? "" },
      items: names.map((name) => ({ metadata: { name } })),
    });

  it("follows the pages and fills in what items of a list lack", async () => {
    const { transport, things } = start((attempt) => (attempt === 0 ? page(["a", "b"], "t1") : page(["c"])));
    const list = await things.list({ namespace: "ns", resourceVersion: "5", resourceVersionMatch: "Exact", pageSize: 2 });
    assert.deepEqual(
      list.items.map((item) => [item.apiVersion, item.kind, item.metadata?.name]),
      [
        ["example.dev/v1", "Thing", "a"],
        ["example.dev/v1", "Thing", "b"],
        ["example.dev/v1", "Thing", "c"],
      ],
    );
    assert.deepEqual(transport.requests[1]?.query, { limit: "2", continue: "t1" });
  });

  for (const [name, body] of Object.entries({
    "without items": { kind: "ThingList", metadata: { resourceVersion: "9" } },
    "without resourceVersion": { kind: "ThingList", metadata: {}, items: [] },
    "of another kind": { kind: "Thing", metadata: { resourceVersion: "9" }, items: [] },
    "with an item that is none": { kind: "ThingList", metadata: { resourceVersion: "9" }, items: ["a"] },
    "that is no object": [],
  })) {
    it(`does not take an answer ${name} for an empty list`, async () => {
      const { things } = start(() => answered(body));
      assert.equal((await errorOf(things.list())).code, "UNEXPECTED_ANSWER");
    });
  }

  it("hands out watch events, and throws the error that a watch brings", async () => {
    const { things } = start(() => ({
      events: [
        { type: "ADDED", object: thing },
        { type: "BOOKMARK", object: { metadata: { resourceVersion: "5" } } },
        { type: "ERROR", object: statusObject(410, "Expired", "old") },
      ],
      after: "stay",
    }));
    const { events } = await things.watch({ resourceVersion: "1" });
    const seen: string[] = [];
    const error = await errorOf(
      (async () => {
        for await (const event of events) seen.push(event.type === "BOOKMARK" ? `BOOKMARK ${event.resourceVersion}` : event.type);
      })(),
    );
    assert.deepEqual([seen, error.code], [["ADDED", "BOOKMARK 5"], "EXPIRED"]);
  });

  it("reaches any subresource with its own type", async () => {
    const api = createScriptedTransport((request) => ({ status: 200, body: { metadata: {}, sent: request.body ?? null } }));
    const scale = createKubeClient(api)
      .resource({ group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true })
      .subresource("scale");
    const key = { namespace: "ns", name: "a" };
    await scale.get(key);
    await scale.update(key, { metadata: { name: "a" } });
    await scale.patch(key, { type: "merge", value: { spec: { replicas: 2 } } });
    await scale.apply(key, { metadata: { name: "a" } }, { fieldManager: "me", force: true });
    assert.deepEqual(
      api.requests.map(({ method, path, query }) => `${method} ${path} ${JSON.stringify(query ?? {})}`),
      [
        "GET /apis/apps/v1/namespaces/ns/deployments/a/scale {}",
        "PUT /apis/apps/v1/namespaces/ns/deployments/a/scale {}",
        "PATCH /apis/apps/v1/namespaces/ns/deployments/a/scale {}",
        'PATCH /apis/apps/v1/namespaces/ns/deployments/a/scale {"fieldManager":"me","force":"true"}',
      ],
    );
  });
});
