import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import type { KubeTransport } from "@talos-operator/ports";
import { createApiServer, createMemoryStore, type ApiServer } from "../index.ts";

describe("what a kubelet would answer", () => {
  let server: ApiServer;
  let kube: KubeTransport;
  const pods = "/api/v1/namespaces/default/pods";
  const podOf = (name: string, spec: object): object => ({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
  before(async () => {
    server = await createApiServer({ store: createMemoryStore(), clock: systemClock, timers: systemTimers, random: systemRandom });
    kube = server.transport({ name: "tester", groups: ["system:masters"] });
    const one = [{ name: "c", image: "i" }];
    await kube.send({ method: "POST", path: "/api/v1/nodes", body: { apiVersion: "v1", kind: "Node", metadata: { name: "n" } } });
    await kube.send({ method: "POST", path: pods, body: podOf("free", { containers: one }) });
    await kube.send({ method: "POST", path: pods, body: podOf("bound", { containers: one, nodeName: "n" }) });
    await kube.send({ method: "POST", path: pods, body: podOf("lost", { containers: one, nodeName: "none" }) });
    await kube.send({ method: "POST", path: pods, body: podOf("two", { containers: [...one, { name: "d", image: "i" }] }) });
  });
  after(() => server.close());

  // As kube-apiserver 1.36.3 answers.
  const noHost = "does not have a host assigned";
  const noAddress = "no preferred addresses found; known addresses: []";
  const answers: readonly (readonly [path: string, status: number, message: string, query?: Record<string, string>])[] = [
    ["pods/free/log", 200, ""],
    ["pods/nope/log", 404, 'pods "nope" not found'],
    ["pods/free/log", 400, "container x is not valid for pod free", { container: "x" }],
    ["pods/free/log", 400, 'strconv.ParseInt: parsing "x": invalid syntax', { sinceSeconds: "x" }],
    [
      "pods/free/log",
      422,
      'PodLogOptions "free" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
      { tailLines: "-1" },
    ],
    ["pods/two/log", 400, "a container name must be specified for pod two, choose one of: [c d]"],
    ["pods/bound/log", 500, noAddress],
    ["pods/lost/log", 404, 'pods "none" not found'],
    ["pods/free/exec", 400, `pod free ${noHost}`],
    ["pods/free/attach", 400, `pod free ${noHost}`],
    ["pods/two/portforward", 400, `pod two ${noHost}`],
    ["pods/bound/exec", 500, noAddress],
    ["pods/free/proxy/a/b", 400, "address not allowed"],
    ["services/nope:80/proxy/a/b", 404, 'services "nope" not found'],
  ];
  for (const [path, status, message, query] of answers) {
    it(`${path} ${JSON.stringify(query ?? {})} is answered ${status}`, async () => {
      const answer = await kube.send({
        method: "GET",
        path: `/api/v1/namespaces/default/${path}`,
        ...(query === undefined ? {} : { query }),
      });
      const { body } = answer;
      assert.deepEqual([answer.status, typeof body === "string" ? body : (body as { message?: string }).message], [status, message]);
    });
  }

  it("a binding puts a pod on a node, once", async () => {
    const bind = async (name: string, target: object): Promise<readonly unknown[]> => {
      const body = { apiVersion: "v1", kind: "Binding", metadata: { name }, target };
      const answer = await kube.send({ method: "POST", path: `${pods}/free/binding`, body });
      return [answer.status, (answer.body as { message?: string }).message];
    };
    assert.deepEqual(await bind("other", { name: "n" }), [400, "name in URL does not match name in Binding object"]);
    assert.deepEqual(await bind("free", { kind: "Node", name: "" }), [500, "target.name: Required value"]);
    assert.deepEqual(await bind("free", { kind: "Node", name: "n" }), [201, undefined]);
    const again = 'Operation cannot be fulfilled on pods/binding "free": pod free is already assigned to node "n"';
    assert.deepEqual(await bind("free", { kind: "Node", name: "m" }), [409, again]);
    const { body } = await kube.send({ method: "GET", path: `${pods}/free` });
    const { spec, status } = body as { spec: { nodeName: string }; status: { conditions: readonly { type: string; status: string }[] } };
    assert.equal(spec.nodeName, "n");
    assert.deepEqual(
      status.conditions.map((condition) => [condition.type, condition.status]),
      [["PodScheduled", "True"]],
    );
  });

  it("an update has to name its object, and a definition waits for the names of another to be free", async () => {
    const maps = "/api/v1/namespaces/default/configmaps";
    await kube.send({ method: "POST", path: maps, body: { metadata: { name: "kept" }, data: { a: "1" } } });
    const nameless = await kube.send({ method: "PUT", path: `${maps}/kept`, body: {} });
    assert.equal(nameless.status, 400);
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const crdOf = (plural: string): object => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural, kind: "Thing", shortNames: [plural.slice(0, 2)] },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
    await kube.send({ method: "POST", path: crds, body: crdOf("firsts") });
    await kube.send({ method: "POST", path: crds, body: crdOf("seconds") });
    const second = async (): Promise<{ acceptedNames: Record<string, unknown> }> => {
      const { body } = await kube.send({ method: "GET", path: `${crds}/seconds.example.com` });
      return (body as { status: { acceptedNames: Record<string, unknown> } }).status;
    };
    assert.deepEqual((await second()).acceptedNames, { kind: "", plural: "seconds", shortNames: ["se"] });
    const watch = await kube.watch({
      method: "GET",
      path: crds,
      query: { watch: "yes", fieldSelector: "metadata.name=seconds.example.com" },
    });
    await kube.send({ method: "DELETE", path: `${crds}/firsts.example.com` });
    for await (const { object } of watch.events) {
      const { acceptedNames } = (object as { status: { acceptedNames: Record<string, unknown> } }).status;
      if (acceptedNames["kind"] === "Thing") break;
    }
    assert.equal((await kube.send({ method: "GET", path: "/apis/example.com/v1/seconds" })).status, 200);
  });
});
