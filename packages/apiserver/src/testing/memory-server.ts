import type { KubeTransport } from "@talos-operator/ports";
import { World } from "../conformance/world.ts";
import { createApiServer, createMemoryStore } from "../index.ts";
import type { ApiServer, ApiServerOptions } from "../index.ts";
import { FakeTime } from "./fake-time.ts";

/** An API in memory whose time is the test's. */
export interface MemoryServer {
  readonly api: ApiServer;
  readonly time: FakeTime;
  readonly transport: KubeTransport;
  /** Requests in namespace `default`. */
  readonly world: World;
}

/** Starts one; nothing has to be closed. */
export async function startMemoryServer(options: Partial<ApiServerOptions> = {}): Promise<MemoryServer> {
  const time = new FakeTime();
  const api = await createApiServer({ store: createMemoryStore(), clock: time, timers: time, random: time, ...options });
  time.advance(0);
  const transport = api.transport({ name: "test", groups: ["system:masters"] });
  return { api, time, transport, world: new World(transport, "default") };
}
