import type { CustomResourceDefinition } from "@talos-operator/api";
import { createApiServer, createMemoryStore, type StoreContent } from "@talos-operator/apiserver";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { crdType } from "./kinds.ts";

const stored = new WeakMap<readonly CustomResourceDefinition[], Promise<StoreContent>>();

/** What an API server holds on which these kinds are installed: they are checked and compiled once for all worlds of this process. */
export function storedCrds(crds: readonly CustomResourceDefinition[]): Promise<StoreContent> {
  const content = stored.get(crds) ?? store(crds);
  stored.set(crds, content);
  return content;
}

async function store(crds: readonly CustomResourceDefinition[]): Promise<StoreContent> {
  const time = createVirtualTime();
  const memory = createMemoryStore();
  const api = await createApiServer({ store: memory, clock: time.clock, timers: time.timers, random: createSeededRandom(0) });
  const client = createKubeClient(api.transport({ name: "system:simulation", groups: ["system:masters"] }));
  for (const crd of crds) await client.resource(crdType).create(crd);
  await time.settle();
  const content = memory.load();
  api.close();
  return content;
}
