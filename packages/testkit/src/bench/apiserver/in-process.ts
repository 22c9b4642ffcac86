import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import type { KubeTransport } from "@talos-operator/ports";
// The store behind the routes is no export of the package; it is measured alone here.
import { ObjectState } from "../../../../apiserver/src/store/state.ts";
import { benchCrd, machine, machinesPath } from "./objects.ts";

/** Writes a second into the storage layer alone, in memory: revision, index, history, listeners; 10,000 objects, each written ten times. */
export function storageWritesPerSecond(): number {
  const state = new ObjectState(createMemoryStore(), 5000);
  let heard = 0;
  state.subscribe("bench/machines", () => (heard += 1));
  const objects = Array.from({ length: 10_000 }, (_, index) => machine(`m-${index}`));
  const total = 100_000;
  const begunAt = performance.now();
  for (let index = 0; index < total; index += 1) {
    const at = index % objects.length;
    state.put("bench/machines", `default/m-${at}`, objects[at] ?? {});
  }
  const seconds = (performance.now() - begunAt) / 1000;
  if (heard !== total) throw new Error(`${heard} changes were announced, not ${total}`);
  return total / seconds;
}

/** Creates a second through the whole request path in this process: decoding, defaults, schema, rules, ownership, store. */
export async function validatedWritesPerSecond(): Promise<number> {
  const server = await createApiServer({ store: createMemoryStore(), clock: systemClock, timers: systemTimers, random: systemRandom });
  const transport = server.transport({ name: "bench", groups: ["system:masters"] });
  await transport.send({ method: "POST", path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: benchCrd });
  await createMany(transport, "warm", 4000);
  const total = 16_000;
  const begunAt = performance.now();
  await createMany(transport, "m", total);
  const seconds = (performance.now() - begunAt) / 1000;
  server.close();
  return total / seconds;
}

async function createMany(transport: KubeTransport, prefix: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const { status } = await transport.send({ method: "POST", path: machinesPath, body: machine(`${prefix}-${index}`) });
    if (status !== 201) throw new Error(`the server answered ${status}`);
  }
}
