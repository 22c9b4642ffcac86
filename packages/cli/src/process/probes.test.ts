import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMetricsRegistry } from "@talos-operator/kube-runtime";
import { serveProbes } from "@talos-operator/kube-runtime/https";
import { createMemoryLog } from "@talos-operator/kube-runtime/testing";
import { readSettings } from "../settings/read-settings.ts";
import { startProbes } from "./probes.ts";

const health = () => ({ isAlive: true, isReady: true, problems: [] });

async function start(flags: { health?: string; metrics?: string }, env: Record<string, string> = {}) {
  const settings = readSettings({ "health-probe-bind-address": flags.health, "metrics-bind-address": flags.metrics }, env);
  const log = createMemoryLog();
  const metrics = createMetricsRegistry();
  metrics.gauge({ name: "up", help: "Up." }).with().set(1);
  const probes = await startProbes(settings, { health, metrics, log });
  const at = log.lines.map((line) => `${String(line.fields["serves"])} at ${String(line.fields["address"])}`);
  const ask = async (path: string, index = 0): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${String(log.lines[index]?.fields["port"])}${path}`);
    return `${answer.status} ${await answer.text()}`;
  };
  return { at, ask, log, close: () => probes.close() };
}

describe("probes of the manager", () => {
  it("serves health and metrics at two addresses, the flag before the environment", async () => {
    const { at, ask, close } = await start(
      { health: "127.0.0.1:0" },
      { HEALTH_PROBE_BIND_ADDRESS: "127.0.0.1:1", METRICS_BIND_ADDRESS: "localhost:0" },
    );
    assert.deepEqual(at, ["health at 127.0.0.1:0", "metrics at localhost:0"]);
    assert.deepEqual([await ask("/healthz"), await ask("/readyz"), (await ask("/metrics")).slice(0, 3)], ["200 ok\n", "200 ok\n", "404"]);
    await close();
  });

  it("serves both at one address when they are the same", async () => {
    const { at, ask, close } = await start({ health: "127.0.0.1:0", metrics: "127.0.0.1:0" });
    assert.deepEqual(at, ["health and metrics at 127.0.0.1:0"]);
    assert.match(await ask("/metrics"), /^200 # HELP up Up\./);
    assert.equal(await ask("/readyz"), "200 ok\n");
    await close();
  });

  it("serves nothing at 0", async () => {
    const { at, close } = await start({ health: "0" }, { METRICS_BIND_ADDRESS: "0" });
    assert.deepEqual(at, []);
    await close();
  });

  it("does not start when an address that was asked for is taken", async () => {
    const taken = await serveProbes({ address: "127.0.0.1:0" });
    await assert.rejects(start({ health: "127.0.0.1:0", metrics: `127.0.0.1:${taken.port}` }), { code: "ADDRESS_UNUSABLE" });
    await taken.close();
  });
});
