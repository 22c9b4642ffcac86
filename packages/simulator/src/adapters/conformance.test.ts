import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { createX509Keys, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { generateSecretsBundle } from "@talos-operator/talos";
import type { Timers } from "@talos-operator/ports";
import { load } from "js-yaml";
import { replay } from "../conformance/replay.ts";
import type { KnownDifference } from "../conformance/replay.ts";
import { parseTranscript } from "../conformance/transcript.ts";
import { createDatacenter } from "../datacenter/datacenter.ts";
import { demoTimings } from "../node/timings.ts";
import { conformanceConfigs, conformanceCredentials } from "../testing/conformance-configs.ts";
import { untilMachines } from "../testing/adapters/until-machines.ts";
import { createGrpcSubject } from "./grpc-subject.ts";
import { serveDatacenter } from "./serve-datacenter.ts";

const testdata = join(import.meta.dirname, "../../testdata/transcripts");
const differencesFile = join(import.meta.dirname, "../conformance/differences.yaml");
// Bootstrap and what comes after it depend on time; the in-process suite plays those with a clock that stands still.
const names = ["a-maintenance", "b-apply", "c-configured"];
const addresses = { "10.5.0.2": "127.0.0.2", "10.5.0.3": "127.0.0.3" };

/** Ten times as fast: a machine that cannot be reached is given up after 0.3 s instead of 3 s. */
const hurried: Timers = {
  sleep: (delayMs, signal) => systemTimers.sleep(delayMs / 10, signal),
  schedule: (delayMs, callback) => systemTimers.schedule(delayMs / 10, callback),
};

test("simulated machines behind gRPC answer what a genuine node answered", async (t) => {
  const keys = createX509Keys();
  const ports = { clock: systemClock, timers: hurried, random: systemRandom, keys };
  const machines = [
    { name: "n1", address: "127.0.0.2", platform: "container" as const },
    { name: "n2", address: "127.0.0.3", platform: "container" as const },
  ];
  const datacenter = createDatacenter({ ...ports, timings: demoTimings, machines });
  const served = await serveDatacenter(datacenter, { port: 0 });
  t.after(async () => {
    await served.close();
    await datacenter.close();
  });
  await untilMachines(datacenter, () => served.portOf("127.0.0.2") !== undefined && served.portOf("127.0.0.3") !== undefined);
  const secrets = await generateSecretsBundle({ contract: "1.13", ...ports });
  const subject = createGrpcSubject({
    endpoints: { "control-plane": `127.0.0.2:${served.portOf("127.0.0.2")}`, worker: `127.0.0.3:${served.portOf("127.0.0.3")}` },
    credentials: await conformanceCredentials(keys, secrets, systemClock.now()),
    start: (machine) => datacenter.machine(machine === "worker" ? "127.0.0.3" : "127.0.0.2").powerOn(),
    hangMs: 300,
    pauseFactor: 0.2,
  });
  const transcripts = names.map((name) => parseTranscript(name, readFileSync(join(testdata, `${name}.json`), "utf8"), addresses));
  const differences = load(readFileSync(differencesFile, "utf8")) as readonly KnownDifference[];
  const verdicts = await replay(transcripts, subject, conformanceConfigs(secrets, "https://127.0.0.2:6443"), differences);
  assert.deepEqual(
    verdicts
      .filter((verdict) => verdict.result === "different")
      .map((verdict) => `${verdict.transcript} | ${verdict.label}: ${verdict.detail}`),
    [],
  );
});
