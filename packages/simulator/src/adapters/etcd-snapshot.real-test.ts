// Genuine parts: etcd, etcdctl, etcdutl, talosctl
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { createX509Keys, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { HANGS_AFTER_MS, ownAddress, tool } from "@talos-operator/adapters/testing";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { generateMachineConfig, generateSecretsBundle } from "@talos-operator/talos";
import { createTalosClient } from "@talos-operator/talos/client";
import { genuineStatus, RealEtcd, said } from "../../../etcd-snapshot/src/testing/real-etcd.ts";
import { createDatacenter } from "../datacenter/datacenter.ts";
import { demoTimings } from "../node/timings.ts";
import { untilMachines } from "../testing/adapters/until-machines.ts";
import { serveDatacenter } from "./serve-datacenter.ts";

const run = promisify(execFile);
/** Three control planes. talosctl dials port 50000. */
const addresses = [1, 2, 3].map(ownAddress);
const address = (n: number): string => addresses[n - 1] ?? "";

const keys = createX509Keys();
const ports = { clock: systemClock, timers: systemTimers, random: systemRandom, keys };
const store = createMemoryStore();
const datacenter = createDatacenter({
  ...ports,
  timings: demoTimings,
  machines: addresses.map((address) => ({ address })),
  workload: {
    async open({ kubernetesVersion }) {
      const server = await createApiServer({ ...ports, store, kubernetesVersion });
      return {
        transport: server.transport({ name: "system:simulated-kubelet", groups: ["system:masters"] }),
        serve: () => Promise.resolve(),
        unserve: () => Promise.resolve(),
        stored() {
          const { revision, entries } = store.load();
          return { revision, objects: entries };
        },
        close: async () => server.close(),
      };
    },
  },
});
let served: Awaited<ReturnType<typeof serveDatacenter>>;
let folder: string;

async function talosctl(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(tool("talosctl"), ["--talosconfig", join(folder, "talosconfig"), ...args], { timeout: HANGS_AFTER_MS });
  return stdout;
}

const isReady = (): boolean =>
  datacenter.machines().every((machine) => machine.state.kubernetes.isNodeReady) &&
  datacenter.etcdClusters()[0]?.members.filter(({ isLearner }) => !isLearner).length === 3;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "simulator-"));
  served = await serveDatacenter(datacenter);
  const secrets = await generateSecretsBundle({ contract: "1.13", ...ports });
  await untilMachines(datacenter, () => datacenter.machines().every((machine) => machine.state.api.kind === "maintenance"));
  const config = generateMachineConfig({
    role: "controlplane",
    clusterName: "demo",
    endpoint: `https://${address(1)}:6443`,
    contract: "1.13",
    kubernetesVersion: "1.36.1",
    secrets,
    install: { disk: "/dev/sda" },
  });
  for (const n of [1, 2, 3])
    await createTalosClient(datacenter.dialer().dial({ address: address(n) }, { kind: "maintenance" })).applyConfiguration({
      config,
      mode: "auto",
    });
  const backup = await keys.signCertificate(secrets.certs.os, {
    usage: "client",
    organizations: ["os:etcd:backup"],
    notBefore: systemClock.now(),
    lifetimeMs: 3_600_000,
  });
  const admin = await keys.signCertificate(secrets.certs.os, {
    usage: "client",
    organizations: ["os:admin"],
    notBefore: systemClock.now(),
    lifetimeMs: 3_600_000,
  });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  await writeFile(
    join(folder, "talosconfig"),
    `context: demo\ncontexts:\n    demo:\n        endpoints: [${address(1)}]\n        nodes: [${address(1)}]\n        ca: ${base64(secrets.certs.os.certificate)}\n        crt: ${base64(backup.certificate)}\n        key: ${base64(backup.key)}\n`,
  );
  await untilMachines(datacenter, () => datacenter.machine(address(1)).state.services["etcd"]?.state === "Preparing");
  await createTalosClient(
    datacenter
      .dialer()
      .dial({ address: address(1) }, { kind: "mutual", ca: secrets.certs.os.certificate, certificate: admin.certificate, key: admin.key }),
  ).bootstrap();
  await untilMachines(datacenter, () => isReady() && [1, 2, 3].every((n) => served.portOf(address(n)) !== undefined));
});

after(async () => {
  await served.close();
  await datacenter.close();
  await rm(folder, { recursive: true });
});

test("what talosctl saves of a simulated member is restored by genuine etcdutl and served by genuine etcd", async () => {
  const file = join(folder, "demo.db");
  await talosctl("-n", address(2), "etcd", "snapshot", file);
  const { entries, revision } = store.load();
  const status = await genuineStatus(file);
  assert.deepEqual([status.revision, status.version], [revision, "3.6.0"]);
  const data = join(folder, "restored");
  await said("etcdutl", "snapshot", "restore", file, "--data-dir", data, "--name", "default");
  const etcd = await RealEtcd.start(data);
  try {
    const kept = await etcd.get();
    assert.equal(kept.size, entries.length);
    const nodes = entries.filter(({ resource }) => resource === "/nodes");
    assert.equal(nodes.length, 3);
    for (const { key, object } of nodes) {
      const stored = kept.get(Buffer.from(`/registry/minions${key}`).toString("base64"));
      assert.deepEqual(JSON.parse(Buffer.from(stored?.value ?? "", "base64").toString()), object);
    }
  } finally {
    await etcd.stop();
  }
});

test("talosctl refuses a stream that ended as if it were whole", async () => {
  datacenter.inject({ method: "EtcdSnapshot", times: 1, effect: { kind: "end-early", bytes: 8_192 } });
  await assert.rejects(talosctl("-n", address(3), "etcd", "snapshot", join(folder, "cut.db")), /sha256|hash|integrity/);
});
