import { after, before, describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import type { KubeTransport } from "@talos-operator/ports";
import { createApiServer, createMemoryStore } from "../index.ts";
import type { ApiServer } from "../index.ts";
import { conformanceCases, createWorld, installConformanceKinds } from "./index.ts";

describe("the embedded API in process", () => {
  let server: ApiServer;
  let transport: KubeTransport;
  before(async () => {
    server = await createApiServer({ store: createMemoryStore(), clock: systemClock, timers: systemTimers, random: systemRandom });
    transport = server.transport({ name: "suite", groups: ["system:masters"] });
    await installConformanceKinds(transport);
  });
  after(() => server.close());

  for (const [subject, cases] of Object.entries(conformanceCases)) {
    describe(subject, () => {
      for (const { name, run } of cases) {
        it(name, async () => run(await createWorld(transport)));
      }
    });
  }
});
