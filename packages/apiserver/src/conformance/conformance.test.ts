import { after, before, describe, it } from "node:test";
import { systemClock, systemRandom, systemTimers, threadWorkedMs } from "@talos-operator/adapters";
import type { KubeTransport } from "@talos-operator/ports";
import { createApiServer, createMemoryStore } from "../index.ts";
import { startTestServer } from "../testing/test-server.ts";
import { conformanceCases, createWorld, installConformanceKinds } from "./index.ts";

interface Subject {
  readonly transport: KubeTransport;
  readonly close: () => void | Promise<void>;
}

async function startInProcess(): Promise<Subject> {
  const server = await createApiServer({
    store: createMemoryStore(),
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    workedMs: threadWorkedMs,
  });
  return { transport: server.transport({ name: "suite", groups: ["system:masters"] }), close: () => server.close() };
}

const subjects: Readonly<Record<string, () => Promise<Subject>>> = {
  "the embedded API in process": startInProcess,
  "the embedded API over HTTPS": () => startTestServer(),
};

for (const [name, start] of Object.entries(subjects)) {
  describe(name, () => {
    let subject: Subject;
    before(async () => {
      subject = await start();
      await installConformanceKinds(subject.transport);
    });
    after(() => subject.close());

    for (const [topic, cases] of Object.entries(conformanceCases)) {
      describe(topic, () => {
        for (const { name: behaviour, run } of cases) {
          it(behaviour, async () => run(await createWorld(subject.transport)));
        }
      });
    }
  });
}
