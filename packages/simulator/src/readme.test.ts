import assert from "node:assert/strict";
import test from "node:test";
import { generateMachineConfig, generateSecretsBundle } from "@talos-operator/talos";
import { createTalosClient } from "@talos-operator/talos/client";
import { createDatacenter, instantTimings } from "./index.ts";
import { createSeededRandom } from "./testing/seeded-random.ts";
import { createTokenKeys } from "./testing/token-keys.ts";
import { VirtualTime } from "./testing/virtual-time.ts";

test("the example of the README runs", async () => {
  const time = new VirtualTime();
  const [clock, timers, random, keys] = [time, time, createSeededRandom("readme"), createTokenKeys()];
  const booted = (): Promise<void> => time.advance(10);
  const secrets = await generateSecretsBundle({ contract: "1.13", clock, random, keys });
  const cluster = {
    clusterName: "demo",
    endpoint: "https://10.5.0.100:6443",
    contract: "1.13" as const,
    kubernetesVersion: "1.36.1",
    secrets,
  };
  const { os } = secrets.certs;
  const signed = await keys.signCertificate(os, {
    usage: "client",
    organizations: ["os:admin"],
    notBefore: clock.now(),
    lifetimeMs: 60_000,
  });
  const adminCredentials = { kind: "mutual" as const, ca: os.certificate, ...signed };

  const machines = [{ address: "10.5.0.1", talosVersion: "v1.13.9" }];
  const datacenter = createDatacenter({ clock, timers, random, keys, machines, timings: instantTimings });
  await booted();
  const maintenance = createTalosClient(datacenter.dialer().dial({ address: "10.5.0.1" }, { kind: "maintenance" }));
  const config = generateMachineConfig({ ...cluster, role: "controlplane", install: { disk: "/dev/sda" } });
  await maintenance.applyConfiguration({ config, mode: "auto" });
  await booted();
  const admin = createTalosClient(datacenter.dialer().dial({ address: "10.5.0.1" }, adminCredentials));
  await admin.bootstrap();
  await booted();
  assert.equal(datacenter.machine("10.5.0.1").state.stage, "running");
  datacenter.inject({ method: "Reboot", effect: { kind: "drop-reply" } });
  await datacenter.close();
});
