import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { crds } from "@talos-operator/api";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import type { KubeResponse, KubeTransport } from "@talos-operator/ports";

type Json = Record<string, unknown>;

const group = "talos.alperen.cloud";
const collection = `/apis/${group}/v1alpha1/namespaces/default/taloscontrolplanes`;
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

let names = 0;

function controlPlane(spec: Json = {}, metadata: Json = {}): Json {
  return {
    apiVersion: `${group}/v1alpha1`,
    kind: "TalosControlPlane",
    metadata: { name: `cp-${++names}`, ...metadata },
    spec: {
      version: "v1.13.9",
      kubeVersion: "v1.36.3",
      mode: "metal",
      replicas: 1,
      endpoint: "https://10.0.0.1:6443",
      metalSpec: { machines: [{ address: "10.0.0.1" }], machineSpec: { installDisk: "/dev/sda" } },
      ...spec,
    },
  };
}

const long = (length: number): string => "a".repeat(length);

/** What the API itself refuses, before the operator sees it: id, what it is, the object, the field that is named. */
const refused: readonly (readonly [id: string, what: string, object: () => Json, field: string])[] = [
  ["IN1", "a path for a name", () => controlPlane({}, { name: "../../etc/passwd" }), "metadata.name"],
  ["IN1", "dots for a name", () => controlPlane({}, { name: ".." }), "metadata.name"],
  ["IN1", "a NUL in a name", () => controlPlane({}, { name: "a\u0000b" }), "metadata.name"],
  ["IN2", "a name of 254 characters", () => controlPlane({}, { name: long(254) }), "metadata.name"],
  ["IN13", "more replicas than 32 bits hold", () => controlPlane({ replicas: 2_147_483_648 }), "spec.replicas"],
  ["IN14", "a text for replicas", () => controlPlane({ replicas: "3" }), "spec.replicas"],
  ["IN14", "half a replica", () => controlPlane({ replicas: 3.5 }), "spec.replicas"],
  ["IN17", "annotations of 1.5 MiB", () => controlPlane({}, { annotations: { note: long(1_572_864) } }), "metadata.annotations"],
  ["IN20", "a zero-width space in a name", () => controlPlane({}, { name: "a\u200Bb" }), "metadata.name"],
  ["IN20", "a change of direction in a name", () => controlPlane({}, { name: "a\u202Eb" }), "metadata.name"],
  [
    "IN21",
    "__proto__ as the key of a label",
    () => controlPlane({}, JSON.parse('{"labels":{"__proto__":"a"}}') as Json),
    "metadata.labels",
  ],
  ["IN20", "a Cyrillic letter in a label", () => controlPlane({}, { labels: { cluster: "cl\u0430ster" } }), "metadata.labels"],
];

/** Slips of a person, with the whole sentence that each is answered with. */
const slips: readonly (readonly [what: string, spec: Json, says: string])[] = [
  ["an endpoint without a scheme", { endpoint: "10.0.0.1:6443" }, "must be a URL, for example https://10.0.0.10:6443"],
  ["an endpoint with one slash", { endpoint: "https:/10.0.0.1:6443" }, "must be a URL, for example https://10.0.0.10:6443"],
  ["a version without v", { version: "1.13.9" }, "must be a version such as v1.13.9"],
  ["a Kubernetes version without a patch", { kubeVersion: "v1.36" }, "must be a version such as v1.36.3"],
  [
    "an address with a digit too many",
    { metalSpec: { machines: [{ address: "127.0.0.1500" }] } },
    "must be an IP address or a DNS name, for example 10.0.0.11 or node1.example.com",
  ],
  ["a network without a length", { podCIDR: ["10.244.0.0"] }, "must be a network, for example 10.244.0.0/16"],
  [
    "a disk without its path",
    { metalSpec: { machines: [{ address: "10.0.0.1" }], machineSpec: { installDisk: "sda" } } },
    "must be a path below /dev, for example /dev/sda",
  ],
  ["a domain of one label", { clusterDomain: "cluster" }, "must be a DNS domain of two labels or more, for example cluster.local"],
  [
    "mode container",
    { mode: "container", replicas: undefined },
    "mode container is not supported: write mode: metal, and list the machines in metalSpec.machines",
  ],
  ["no machine", { metalSpec: undefined }, "list the control planes in metalSpec.machines: mode metal needs at least one"],
];

/** Changes that a transition rule refuses. */
const immutable: readonly (readonly [what: string, patch: Json])[] = [
  ["clusterDomain", { clusterDomain: "other.local" }],
  ["mode", { mode: "container" }],
];

describe("bad input that the API answers by itself", () => {
  let transport: KubeTransport;
  before(async () => {
    const server = await createApiServer({ store: createMemoryStore(), clock: systemClock, timers: systemTimers, random: systemRandom });
    transport = server.transport({ name: "tester", groups: ["system:masters"] });
    for (const body of crds) assert.equal((await transport.send({ method: "POST", path: definitions, body })).status, 201);
  });

  const create = (body: Json, query: Record<string, string> = {}): Promise<KubeResponse> =>
    transport.send({ method: "POST", path: collection, body, query });
  const merge = (path: string, body: Json): Promise<KubeResponse> =>
    transport.send({ method: "PATCH", path, body, headers: { "content-type": "application/merge-patch+json" } });
  const created = async (object: Json = controlPlane()): Promise<string> => {
    const { status, body } = await create(object);
    assert.equal(status, 201, JSON.stringify(body));
    return `${collection}/${(object["metadata"] as { name: string }).name}`;
  };

  for (const [id, what, object, field] of refused) {
    it(`${id}: refuses ${what} and names ${field}`, async () => {
      const { status, body } = await create(object());
      assert.equal(status, 422, JSON.stringify(body).slice(0, 500));
      const { reason, details } = body as { reason: string; details: { causes: readonly { field: string; message: string }[] } };
      assert.equal(reason, "Invalid");
      // A format is refused without a field; the path is in the message then.
      assert.ok(
        details.causes.some((cause) => cause.field === field || (cause.field === "<nil>" && cause.message.endsWith(`in ${field}`))),
        JSON.stringify(details).slice(0, 500),
      );
    });
  }

  for (const [what, spec, says] of slips)
    it(`answers ${what} with what to write`, async () => {
      const { status, body } = await create(controlPlane(spec));
      assert.equal(status, 422);
      const { details } = body as { details: { causes: readonly { message: string }[] } };
      assert.ok(
        details.causes.some(({ message }) => message.endsWith(says)),
        JSON.stringify(details),
      );
      assert.doesNotMatch(JSON.stringify(body), /no such key|\{1,3\}/);
    });

  for (const name of ["..", "%2e%2e", "a%2fb", "..%2f..%2fsecrets", "a%00b"]) {
    it(`IN1: refuses the path of ${name}`, async () => {
      const { status } = await transport.send({ method: "GET", path: `${collection}/${name}` });
      assert.ok(status === 400 || status === 404, String(status));
    });
  }

  it("IN2: takes a name of 253 characters", async () => {
    assert.equal((await create(controlPlane({}, { name: long(253) }))).status, 201);
  });

  it("IN12: drops unknown fields and says so, and refuses them when asked to be strict", async () => {
    const dropped = await create(controlPlane({ replikas: 3 }));
    assert.equal(dropped.status, 201);
    assert.match(dropped.headers["warning"] ?? "", /unknown field \\"spec\.replikas\\"/);
    assert.equal((dropped.body as { spec: Json }).spec["replikas"], undefined);
    const strict = await create(controlPlane({ replikas: 3 }), { fieldValidation: "Strict" });
    assert.equal(strict.status, 400);
    assert.match(String((strict.body as Json)["message"]), /strict decoding error: unknown field "spec\.replikas"/);
  });

  for (const [what, patch] of immutable) {
    it(`IN16: refuses a change of ${what}`, async () => {
      const path = await created();
      const { status, body } = await merge(path, { spec: patch });
      assert.equal(status, 422, JSON.stringify(body));
      assert.match(JSON.stringify(body), /immutable|cannot|may not|must not/);
    });
  }

  it("IN17: refuses an object that is larger than a store should hold, and keeps the old one", async () => {
    const path = await created();
    const { status } = await merge(path, { spec: { metalSpec: { machineSpec: { configPatches: [{ note: long(1_600_000) }] } } } });
    assert.equal(status, 413);
    assert.equal((await transport.send({ method: "GET", path })).status, 200);
  });

  it("IN20: keeps any text in an annotation as it is", async () => {
    const note = "\u202E<img onerror=x>\u200B";
    const path = await created(controlPlane({}, { annotations: { note } }));
    const { body } = await transport.send({ method: "GET", path });
    assert.equal((body as { metadata: { annotations: Json } }).metadata.annotations["note"], note);
  });

  it("IN14: takes null for replicas for an absent field, as every Kubernetes API does", async () => {
    const { status, body } = await create(controlPlane({ replicas: null }));
    assert.equal(status, 201);
    assert.equal(Object.hasOwn((body as { spec: Json }).spec, "replicas"), false);
  });

  it("IN21: takes constructor and toString for plain keys of labels", async () => {
    await created(controlPlane({}, { labels: { constructor: "b", toString: "c" } }));
    for (const [labelSelector, count] of [
      ["constructor=b", 1],
      ["toString", 1],
      ["valueOf", 0],
    ] as const) {
      const { body } = await transport.send({ method: "GET", path: collection, query: { labelSelector } });
      assert.equal((body as { items: unknown[] }).items.length, count, labelSelector);
    }
  });

  it("IN21: keeps __proto__ as a plain key where any key may stand, also through patches", async () => {
    const patches = JSON.parse('[{"__proto__":{"polluted":"yes"},"machine":{"__proto__":{"polluted":"yes"}}}]') as Json[];
    const path = await created(
      controlPlane({ metalSpec: { machines: [{ address: "10.0.0.1" }], machineSpec: { configPatches: patches } } }),
    );
    await merge(path, JSON.parse('{"spec":{"metalSpec":{"__proto__":{"polluted":"yes"}}}}') as Json);
    const { body } = await transport.send({ method: "GET", path });
    assert.match(JSON.stringify(body), /"configPatches":\[\{"__proto__":\{"polluted":"yes"\}/);
    assert.equal(({} as Json)["polluted"], undefined);
    assert.equal(([] as unknown as Json)["polluted"], undefined);
  });

  it("IN24: takes no definition that would convert by webhook", async () => {
    const [crd] = crds;
    const conversion = {
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://x.example.com" } },
    };
    const path = `${definitions}/${(crd as unknown as { metadata: { name: string } }).metadata.name}`;
    assert.equal((await merge(path, { spec: { conversion } })).status, 422);
  });

  it("IN80: tells a watch of a forgotten past 410, and the next list begins anew", async () => {
    const server = await createApiServer({ store: createMemoryStore(), clock: systemClock, timers: systemTimers, random: systemRandom });
    const own = server.transport({ name: "tester", groups: ["system:masters"] });
    server.compact();
    const path = "/api/v1/configmaps";
    const watch = await own.watch({ method: "GET", path, query: { watch: "true", resourceVersion: "1" } });
    for await (const event of watch.events) {
      assert.equal(event.type, "ERROR");
      assert.equal((event.object as { code: number }).code, 410);
    }
    assert.equal((await own.send({ method: "GET", path })).status, 200);
    server.close();
  });

  it("IN81: shows on the next read that an older definition prunes a field, and that status is none any more", async () => {
    const server = await createApiServer({ store: createMemoryStore(), clock: systemClock, timers: systemTimers, random: systemRandom });
    const own = server.transport({ name: "tester", groups: ["system:masters"] });
    const crd = crds.find((candidate) => (candidate as { metadata: { name: string } }).metadata.name.startsWith("taloscontrolplanes"));
    await own.send({ method: "POST", path: definitions, body: crd });
    await own.send({ method: "POST", path: collection, body: controlPlane({ deletionPolicy: "preserve" }, { name: "old" }) });
    const older = [
      { op: "remove", path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/deletionPolicy" },
      { op: "remove", path: "/spec/versions/0/subresources" },
    ];
    const path = `${definitions}/taloscontrolplanes.${group}`;
    const replaced = await own.send({ method: "PATCH", path, body: older, headers: { "content-type": "application/json-patch+json" } });
    assert.equal(replaced.status, 200, JSON.stringify(replaced.body).slice(0, 500));
    const { body } = await own.send({ method: "GET", path: `${collection}/old` });
    assert.equal((body as { spec: Json }).spec["deletionPolicy"], undefined);
    assert.equal((await own.send({ method: "GET", path: `${collection}/old/status` })).status, 404);
    server.close();
  });
});
