// Genuine parts: etcd, kube-apiserver, kube-controller-manager
import { after, before, describe, it } from "node:test";
import { type GenuineApi, startGenuineApi, until } from "@talos-operator/adapters/testing";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import type { KubeTransport } from "@talos-operator/ports";
import { conformanceCases, createWorld, installConformanceKinds, type World } from "./index.ts";

/** What collects garbage and empties namespaces of the genuine server; its other controllers would only disturb. */
const controllers = ["garbage-collector-controller", "namespace-controller", "serviceaccount-controller"];

/** A world whose namespace has the account that pods get: a controller makes it a moment after the namespace, later when it is busy. */
async function worldWithAccount(transport: KubeTransport): Promise<World> {
  const world = await createWorld(transport);
  const account = world.core("serviceaccounts", "default");
  await until(`somebody makes ${account}`, async () => (await world.get(account)).status === 200);
  return world;
}

// The judge: what the suite says about us must be true of the genuine server first.
describe("the genuine kube-apiserver", () => {
  let api: GenuineApi;
  let transport: KubeTransport;
  before(async () => {
    api = await startGenuineApi({ controllers });
    transport = createHttpsTransport((await loadKubeconfig({ path: api.kubeconfig })).config);
    await installConformanceKinds(transport);
  });
  after(async () => {
    transport.close();
    await api.stop();
  });

  for (const [subject, cases] of Object.entries(conformanceCases)) {
    describe(subject, () => {
      for (const { name, run } of cases) {
        it(name, async () => run(await worldWithAccount(transport)));
      }
    });
  }
});
