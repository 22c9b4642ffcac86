import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createApiServer, createMemoryStore } from "./index.ts";
import { FakeTime } from "./testing/fake-time.ts";
import { startMemoryServer } from "./testing/memory-server.ts";

const path = "/api/v1/namespaces/default/configmaps";

describe("the in-process transport", () => {
  it("resolves by microtasks alone, from the creation of the server on", async () => {
    let macrotasks = 0;
    const immediate = setImmediate(() => macrotasks++);
    const time = new FakeTime();
    const server = await createApiServer({ store: createMemoryStore(), clock: time, timers: time, random: time });
    const transport = server.transport({ name: "t", groups: ["system:masters"] });
    const stream = await transport.watch({ method: "GET", path, query: { watch: "true" } });
    for (let n = 0; n < 100; n++) await transport.send({ method: "POST", path, body: { metadata: { name: `c-${n}` } } });
    let seen = 0;
    for await (const event of stream.events) {
      assert.equal(event.type, "ADDED");
      if (++seen === 100) break;
    }
    assert.equal(macrotasks, 0);
    clearImmediate(immediate);
  });

  it("copies what goes in and what comes out", async () => {
    const { transport } = await startMemoryServer();
    const body = { metadata: { name: "a" }, data: { k: "1" } as Record<string, string> };
    const created = await transport.send({ method: "POST", path, body });
    body.data["k"] = "changed";
    (created.body as typeof body).data["k"] = "changed too";
    const read = await transport.send({ method: "GET", path: `${path}/a` });
    assert.deepEqual((read.body as typeof body).data, { k: "1" });
  });

  it("drops members that are undefined, as JSON does", async () => {
    const { transport } = await startMemoryServer();
    const created = await transport.send({ method: "POST", path, body: { metadata: { name: "a", labels: undefined }, data: undefined } });
    assert.equal(created.status, 201);
    assert.ok(!("data" in (created.body as object)));
  });

  it("refuses a body of 20,000 levels with 400", async () => {
    const { transport } = await startMemoryServer();
    let body: unknown = 1;
    for (let level = 0; level < 20_000; level++) body = { a: body };
    const { status } = await transport.send({ method: "POST", path, body });
    assert.equal(status, 400);
  });

  it("keeps __proto__ a plain key", async () => {
    const { transport } = await startMemoryServer();
    const body = JSON.parse('{"metadata":{"name":"a"},"data":{"__proto__":"x"}}') as unknown;
    await transport.send({ method: "POST", path, body });
    const read = await transport.send({ method: "GET", path: `${path}/a` });
    assert.deepEqual(Object.keys((read.body as { data: object }).data), ["__proto__"]);
    assert.equal(({} as Record<string, unknown>)["x"], undefined);
  });

  it("fails with KubeTransportFailure when closed or already aborted", async () => {
    const { api, transport } = await startMemoryServer();
    await assert.rejects(transport.send({ method: "GET", path }, { signal: AbortSignal.abort() }), { name: "KubeTransportFailure" });
    const other = api.transport({ name: "t", groups: ["system:masters"] });
    other.close();
    await assert.rejects(other.send({ method: "GET", path }), { name: "KubeTransportFailure" });
    assert.equal((await transport.send({ method: "GET", path })).status, 200);
  });

  it("answers 503 when the server is closed", async () => {
    const { api, transport } = await startMemoryServer();
    api.close();
    assert.equal((await transport.send({ method: "GET", path })).status, 503);
  });

  it("gives the same answers for the same requests and the same chance", async () => {
    const run = async (): Promise<string> => {
      const { transport } = await startMemoryServer();
      const answers: unknown[] = [];
      for (let n = 0; n < 5; n++) answers.push(await transport.send({ method: "POST", path, body: { metadata: { generateName: "c-" } } }));
      return JSON.stringify(answers);
    };
    assert.equal(await run(), await run());
  });
});

describe("authorization", () => {
  it("lets nobody do anything that no role gives when nothing else is said", async () => {
    const { api } = await startMemoryServer();
    assert.equal((await api.transport({ name: "jane", groups: [] }).send({ method: "GET", path })).status, 403);
    assert.equal((await api.transport({ name: "root", groups: ["system:masters"] }).send({ method: "GET", path })).status, 200);
  });

  it("asks authorize for everyone but system:masters, with verb and resource", async () => {
    const asked: string[] = [];
    const { api, transport } = await startMemoryServer({
      authorize: ({ user, verb, group, resource, subresource, namespace, name, path: other }) => {
        asked.push(`${user.name} ${verb} ${group}/${resource}/${subresource} ${namespace}/${name}${other}`);
        return { allowed: false, reason: "not today" };
      },
    });
    assert.equal((await transport.send({ method: "GET", path })).status, 200);
    const jane = api.transport({ name: "jane", groups: [] });
    const refused = await jane.send({ method: "PATCH", path: "/apis/apps/v1/namespaces/n/deployments/d/status", body: {} });
    assert.equal(refused.status, 403);
    const status = refused.body as { reason: string; message: string };
    assert.equal(status.reason, "Forbidden");
    assert.equal(
      status.message,
      'deployments.apps "d" is forbidden: User "jane" cannot patch resource "deployments/status" in API group "apps" in the namespace "n": not today',
    );
    await jane.send({ method: "GET", path: "/api" });
    await jane.send({ method: "GET", path: "/api/v1/secrets", query: { watch: "1" } });
    await jane.send({ method: "DELETE", path });
    assert.equal((await jane.send({ method: "GET", path: "/readyz" })).status, 200);
    assert.deepEqual(asked, [
      "jane patch apps/deployments/status n/d",
      "jane get // //api",
      "jane watch /secrets/ /",
      "jane deletecollection /configmaps/ default/",
    ]);
  });

  it("answers access and token reviews from the same rules", async () => {
    const { world: w } = await startMemoryServer({
      authorize: ({ user, verb }) => ({ allowed: user.name === "jane" && verb === "get" }),
      authenticateToken: (token) => (token === "good" ? { name: "jane", groups: ["g"], uid: "1" } : undefined),
    });
    const review = async (user: string, verb: string): Promise<unknown> => {
      const spec = { user, resourceAttributes: { verb, resource: "secrets" } };
      const answer = await w.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec,
      });
      return (answer["status"] as { allowed: boolean }).allowed;
    };
    assert.deepEqual([await review("jane", "get"), await review("jane", "delete"), await review("joe", "get")], [true, false, false]);
    const token = await w.create("/apis/authentication.k8s.io/v1/tokenreviews", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token: "good" },
    });
    assert.deepEqual(token["status"], { authenticated: true, user: { username: "jane", groups: ["g"], uid: "1" } });
  });
});
