import assert from "node:assert/strict";
import { test } from "node:test";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { EndpointTarget } from "@talos-operator/ports";
import { EndpointWatch } from "../looking/endpoint-watch.ts";
import { configured, controlPlane, facts, founded, observed } from "../testing/builders.ts";
import { withNextEndpoint } from "./with-next-endpoint.ts";
import type { Observed } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";

const NEW = "https://api.example:6443";
const made = facts({ bootstrapDone: founded, machines: [configured("10.0.0.1")] });

const cluster = (endpoint: string, over: Partial<ClusterFacts> = {}, rest: Partial<Observed> = {}): Observed => ({
  ...observed({ controlPlane: controlPlane(1, { endpoint }), facts: { ...made, ...over } }),
  ...rest,
});

/** What is asked, and what is seen ten seconds later. */
async function seen(world: Observed, fingerprint = made.bundle.fingerprint) {
  const time = createVirtualTime();
  const targets: EndpointTarget[] = [];
  const ask = (target: EndpointTarget) => {
    targets.push(target);
    return Promise.resolve({ kind: "reached", detail: "" } as const);
  };
  const watch = new EndpointWatch({ endpoints: { ask }, timers: time.timers, random: createSeededRandom(1), onChange: () => undefined });
  const session = { nextEndpoint: watch, kubernetesAuthority: { fingerprint, certificate: "the cluster's authority" } };
  withNextEndpoint(world, session);
  await time.advance(10_000);
  const known = withNextEndpoint(world, session).nextEndpoint;
  watch.close();
  return { target: targets[0], known };
}

test("another endpoint is asked whatever name its certificate is for, and believed by the cluster's authority alone", async () => {
  const { target, known } = await seen(cluster(NEW));
  assert.deepEqual(target, { endpoint: NEW, ca: "the cluster's authority", anyName: true });
  assert.equal(known?.seen.kind, "answered");
});

test("once control planes are given it, its certificate has to be for its name", async () => {
  const { target } = await seen(cluster(NEW, { nextEndpoint: NEW }));
  assert.deepEqual(target, { endpoint: NEW, ca: "the cluster's authority" });
});

for (const [what, world, fingerprint] of [
  ["the spec names the one in force", cluster(made.endpoint), undefined],
  ["etcd is not bootstrapped", cluster(NEW, { bootstrapDone: undefined }), undefined],
  ["the cluster is paused", cluster(NEW, {}, { mode: "disable" }), undefined],
  ["the keys are not those of the record", cluster(NEW), "another"],
] as const)
  test(`nobody asks where ${what}`, async () => assert.deepEqual(await seen(world, fingerprint), { target: undefined, known: undefined }));

test("nobody asks an endpoint that is reached from outside only, and that is told", async () => {
  const { target, known } = await seen(cluster(NEW, {}, { endpoint: { kind: "outside" } }));
  assert.deepEqual([target, known], [undefined, { url: NEW, seen: { kind: "outside" } }]);
});
