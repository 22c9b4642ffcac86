import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createLogger, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { crds } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { createOperator } from "@talos-operator/operator";
import { createDatacenter, demoTimings } from "@talos-operator/simulator";
import { createDialledWorkloads } from "../world/dialled-workloads.ts";
import { crdType } from "../world/kinds.ts";
import { createValueKeys } from "../world/value-keys.ts";
import type { Conditioned } from "./story.ts";
import type { KubeTransport } from "@talos-operator/ports";
import { playWords } from "./words.ts";

const hack = join(import.meta.dirname, "../../../../hack/tools");

/** Machines are quick here, and so are people: what takes them a minute takes six seconds. */
const QUICKER = 10;

/** A machine that is busy with others is no fault of what is said: statuses have three times as long as where time is virtual. */
const PATIENCE = 3;

it("no object says a false word on a genuine API, through a whole life", { timeout: 1_200_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "words-real-"));
  const env = { ...process.env, BIN: process.env["TALOS_OPERATOR_TOOLS"], KCM: "1", KCM_CONTROLLERS: "garbage-collector-controller" };
  const log = join(folder, "start.log");
  const started = spawnSync("bash", ["-c", '"$0" "$1" > "$2" 2>&1', join(hack, "start-apiserver.sh"), folder, log], { env });
  assert.equal(started.status, 0, readFileSync(log, "utf8"));
  const { config } = await loadKubeconfig({ path: join(folder, "kubeconfig") });
  const truth = createHttpsTransport(config);
  const client = createKubeClient(truth);
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
  const keys = createValueKeys(systemRandom);
  const isConnected = (address: string): boolean =>
    datacenter.machines().find((one) => one.address === address)?.state.isConnected !== false;
  const workloads = createDialledWorkloads({ ...ports, keys, isConnected });
  const machines = Array.from({ length: 6 }, (_, index) => ({ address: `10.5.0.${index + 1}` }));
  const datacenter = createDatacenter({ ...ports, keys, machines, timings: demoTimings, workload: workloads.api });
  const stop = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  let running: Promise<void> | undefined;
  const get = (type: Parameters<typeof client.resource>[0], name = "demo") =>
    client.resource<Conditioned>(type).tryGet({ namespace: "default", name });
  try {
    for (const crd of crds) await client.resource(crdType).create(crd);
    await playWords({
      client,
      truth: untilEnd(truth, stop.signal),
      datacenter,
      get,
      condition: async (type, wanted, name) => (await get(type, name))?.status?.conditions?.find((one) => one.type === wanted),
      workload: () => createKubeClient(workloads.transport() ?? assert.fail("no cluster has an API yet")),
      async until(what, holds, seconds = 300) {
        const latest = performance.now() + seconds * 1_000;
        while (!(await holds())) {
          assert.ok(performance.now() < latest, `not within ${seconds} s: ${what}`);
          await sleep(200);
        }
      },
      now: () => performance.now() / PATIENCE,
      eachSecond: (act) => void timers.push(setInterval(act, 1_000)),
      pass: (ms) => sleep(ms / QUICKER),
      async start() {
        const talos = datacenter.dialer();
        const names = { resolve: async () => [] };
        const options = { leaderElection: false, identity: "words" } as const;
        const operator = createOperator({
          ...ports,
          kube: truth,
          talos,
          workloads: workloads.dialer,
          names,
          keys,
          log: createLogger({ level: "silent" }),
          options,
        });
        running = operator.run(stop.signal);
      },
    });
  } finally {
    for (const timer of timers) clearInterval(timer);
    stop.abort();
    await running;
    await datacenter.close();
    truth.close();
    spawnSync("bash", [join(hack, "stop-apiserver.sh"), folder]);
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A kind whose CRD is new, or was written to, is not found or not served for a moment, the longer the busier the API is. */
const NOT_YET = new Set([404, 429, 503]);

/** What follows objects waits until they are served, and goes on for as long as there is an API: that it is gone in the end is no failure. */
function untilEnd(real: KubeTransport, end: AbortSignal): KubeTransport {
  async function* events(source: Awaited<ReturnType<KubeTransport["watch"]>>["events"]) {
    try {
      yield* source;
    } catch (thrown) {
      if (!end.aborted) throw thrown;
    }
  }
  return {
    async send(request, options) {
      while (!end.aborted) {
        const response = await real.send(request, options);
        if (!NOT_YET.has(response.status)) return response;
        await sleep(100);
      }
      return { status: 410, headers: {}, body: {} };
    },
    async watch(request, options) {
      const watch = await real.watch(request, options);
      return { ...watch, events: events(watch.events) };
    },
    close: () => undefined,
  };
}
