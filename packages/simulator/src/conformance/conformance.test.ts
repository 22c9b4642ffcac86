import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { load } from "js-yaml";
import { conformanceConfigs, conformanceCredentials } from "../testing/conformance-configs.ts";
import { demoTimings } from "../node/timings.ts";
import { createTestWorld } from "../testing/world.ts";
import { createChannelSubject } from "./channel-subject.ts";
import { replay } from "./replay.ts";
import type { KnownDifference, Verdict } from "./replay.ts";
import { parseTranscript } from "./transcript.ts";

const testdata = join(import.meta.dirname, "../../testdata/transcripts");
const names = ["a-maintenance", "b-apply", "c-configured", "d-bootstrap", "e-apply-modes", "f-running", "g-lifecycle", "n-upgrade"];

test("simulated machines in the same process answer what a genuine node answered", async () => {
  const differences = load(readFileSync(join(import.meta.dirname, "differences.yaml"), "utf8")) as readonly KnownDifference[];
  const ours = differences.filter((difference) => difference.only === undefined);
  const machines = [
    { name: "n1", address: "10.5.0.2", platform: "container" as const },
    { name: "n2", address: "10.5.0.3", platform: "container" as const },
  ];
  const world = await createTestWorld(machines, { timings: demoTimings });
  await world.time.advance(1_000);
  const credentials = await conformanceCredentials(world.keys, world.secrets, world.time.now());
  const subject = createChannelSubject({
    dialer: world.datacenter.dialer(),
    addresses: { "control-plane": "10.5.0.2", worker: "10.5.0.3" },
    credentials,
    hangMs: 6_000,
    pause: (ms) => world.time.advance(ms),
    start: (address) => world.datacenter.machine(address).powerOn(),
    whileCalling: async (call) => {
      const progress = { isDone: false };
      const done = call.finally(() => {
        progress.isDone = true;
      });
      for (let round = 0; round < 2_000 && !progress.isDone; round += 1) await world.time.advance(round === 0 ? 0 : 10);
      return done;
    },
  });
  const transcripts = names.map((name) => parseTranscript(name, readFileSync(join(testdata, `${name}.json`), "utf8")));
  const verdicts = await replay(transcripts, subject, conformanceConfigs(world.secrets, "https://10.5.0.2:6443"), ours);
  assert.deepEqual(describe(verdicts), []);
  assert.ok(verdicts.filter((verdict) => verdict.result === "same").length > 150);
});

function describe(verdicts: readonly Verdict[]): readonly string[] {
  return verdicts
    .filter((verdict) => verdict.result === "different")
    .map((verdict) => `${verdict.transcript} | ${verdict.label}: ${verdict.detail}`);
}
