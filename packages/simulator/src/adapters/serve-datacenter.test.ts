import assert from "node:assert/strict";
import test from "node:test";
import { createX509Keys, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { generateMachineConfig, generateSecretsBundle } from "@talos-operator/talos";
import { createTalosClient, isTalosError } from "@talos-operator/talos/client";
import { createGrpcDialer } from "@talos-operator/talos/grpc";
import { createDatacenter } from "../datacenter/datacenter.ts";
import { instantTimings } from "../node/timings.ts";
import { untilMachines } from "../testing/adapters/until-machines.ts";
import { serveDatacenter } from "./serve-datacenter.ts";

test("a machine switches from maintenance to mutual TLS and is bootstrapped over gRPC", async (t) => {
  const keys = createX509Keys();
  const datacenter = createDatacenter({
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    keys,
    timings: instantTimings,
    machines: [{ address: "127.0.0.1" }],
  });
  const served = await serveDatacenter(datacenter, { port: 0 });
  t.after(async () => {
    await served.close();
    await datacenter.close();
  });
  await untilMachines(datacenter, () => served.portOf("127.0.0.1") !== undefined);
  const port = served.portOf("127.0.0.1") ?? 0;
  const secrets = await generateSecretsBundle({ contract: "1.13", clock: systemClock, random: systemRandom, keys });
  const maintenance = createTalosClient(createGrpcDialer().dial({ address: "127.0.0.1", port }, { kind: "maintenance" }));
  t.after(() => maintenance.close());
  assert.equal((await maintenance.version()).tag, "v1.13.9");
  const config = generateMachineConfig({
    role: "controlplane",
    clusterName: "test",
    endpoint: "https://127.0.0.1:6443",
    contract: "1.13",
    kubernetesVersion: "1.36.1",
    secrets,
    install: { disk: "/dev/sda", image: "ghcr.io/siderolabs/installer:v1.13.9" },
  });
  await maintenance.applyConfiguration({ config, mode: "auto" });
  const admin = await keys.signCertificate(secrets.certs.os, {
    usage: "client",
    organizations: ["os:admin"],
    notBefore: systemClock.now(),
    lifetimeMs: 60_000,
  });
  await untilMachines(
    datacenter,
    () => datacenter.machine("127.0.0.1").state.services["etcd"]?.state === "Preparing" && served.portOf("127.0.0.1") !== undefined,
  );
  const client = createTalosClient(
    createGrpcDialer().dial({ address: "127.0.0.1", port }, { kind: "mutual", ca: secrets.certs.os.certificate, ...admin }),
  );
  t.after(() => client.close());
  await assert.rejects(maintenance.version(), (error) => isTalosError(error));
  await client.bootstrap();
  await untilMachines(datacenter, () => datacenter.machine("127.0.0.1").state.stage === "running");
  const members = await client.etcdMemberList();
  assert.equal(members.length, 1);
});

test("machines that waited in maintenance and machines of a cluster are served again from what is on disk", async (t) => {
  const keys = createX509Keys();
  const options = { clock: systemClock, timers: systemTimers, random: systemRandom, keys, timings: instantTimings };
  const addresses = ["127.0.0.1", "127.0.0.2"];
  const before = createDatacenter({ ...options, machines: addresses.map((address) => ({ address })) });
  const servedBefore = await serveDatacenter(before, { port: 0 });
  const isServed = (served: typeof servedBefore): boolean => addresses.every((address) => served.portOf(address) !== undefined);
  await untilMachines(before, () => isServed(servedBefore));
  const secrets = await generateSecretsBundle({ contract: "1.13", clock: systemClock, random: systemRandom, keys });
  const dial = (port: number): ReturnType<typeof createTalosClient> =>
    createTalosClient(createGrpcDialer().dial({ address: "127.0.0.1", port }, { kind: "maintenance" }));
  const maintenance = dial(servedBefore.portOf("127.0.0.1") ?? 0);
  await maintenance.applyConfiguration({
    config: generateMachineConfig({
      role: "controlplane",
      clusterName: "test",
      endpoint: "https://127.0.0.1:6443",
      contract: "1.13",
      kubernetesVersion: "1.36.1",
      secrets,
      install: { disk: "/dev/sda", image: "ghcr.io/siderolabs/installer:v1.13.9" },
    }),
    mode: "auto",
  });
  maintenance.close();
  await untilMachines(before, () => before.machine("127.0.0.1").state.api.kind === "configured" && isServed(servedBefore));
  const snapshot = JSON.parse(JSON.stringify(before.snapshot())) as ReturnType<typeof before.snapshot>;
  await servedBefore.close();
  await before.close();

  const after = createDatacenter({ ...options, machines: addresses.map((address) => ({ address })), snapshot });
  const servedAfter = await serveDatacenter(after, { port: 0 });
  t.after(async () => {
    await servedAfter.close();
    await after.close();
  });
  assert.ok(isServed(servedAfter));
  assert.deepEqual(
    after.machines().map(({ state }) => state.api.kind),
    ["configured", "maintenance"],
  );
});
