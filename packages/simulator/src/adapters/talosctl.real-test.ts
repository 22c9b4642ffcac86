// Genuine parts: talosctl
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { createX509Keys, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { HANGS_AFTER_MS, ownAddress, tool } from "@talos-operator/adapters/testing";
import { generateMachineConfig, generateSecretsBundle } from "@talos-operator/talos";
import { createTalosClient } from "@talos-operator/talos/client";
import { createDatacenter } from "../datacenter/datacenter.ts";
import { demoTimings } from "../node/timings.ts";
import { untilMachines } from "../testing/adapters/until-machines.ts";
import { serveDatacenter } from "./serve-datacenter.ts";

const run = promisify(execFile);
const WAITS = `${HANGS_AFTER_MS / 1_000 - 30}s`;
/** Three control planes, a worker, a spare. talosctl dials port 50000. */
const addresses = [1, 2, 3, 4, 5].map(ownAddress);
const address = (n: number): string => addresses[n - 1] ?? "";
/** The same, for an expression. */
const text = (n: number): string => address(n).replaceAll(".", "\\.");

const keys = createX509Keys();
const ports = { clock: systemClock, timers: systemTimers, random: systemRandom, keys };
const datacenter = createDatacenter({ ...ports, timings: demoTimings, machines: addresses.map((address) => ({ address })) });
let served: Awaited<ReturnType<typeof serveDatacenter>>;
let folder: string;
let spareConfig: string;

/** What talosctl prints; fails with its error text. */
async function talosctl(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(tool("talosctl"), ["--talosconfig", join(folder, "talosconfig"), ...args], {
    timeout: HANGS_AFTER_MS,
  });
  return stdout + stderr;
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "simulator-"));
  served = await serveDatacenter(datacenter);
  const secrets = await generateSecretsBundle({ contract: "1.13", ...ports });
  const config = (role: "controlplane" | "worker"): string =>
    generateMachineConfig({
      role,
      clusterName: "demo",
      endpoint: `https://${address(1)}:6443`,
      contract: "1.13",
      kubernetesVersion: "1.36.1",
      secrets,
      install: { disk: "/dev/sda" },
    });
  await untilMachines(datacenter, () => datacenter.machines().every((machine) => machine.state.api.kind === "maintenance"));
  for (const n of [1, 2, 3, 4]) {
    const client = createTalosClient(datacenter.dialer().dial({ address: address(n) }, { kind: "maintenance" }));
    await client.applyConfiguration({ config: config(n === 4 ? "worker" : "controlplane"), mode: "auto" });
  }
  spareConfig = join(folder, "worker.yaml");
  await writeFile(spareConfig, config("worker"));
  const admin = await keys.signCertificate(secrets.certs.os, {
    usage: "client",
    organizations: ["os:admin"],
    notBefore: systemClock.now(),
    lifetimeMs: 3_600_000,
  });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  await writeFile(
    join(folder, "talosconfig"),
    `context: demo\ncontexts:\n    demo:\n        endpoints: [${address(1)}]\n        nodes: [${address(1)}]\n        ca: ${base64(secrets.certs.os.certificate)}\n        crt: ${base64(admin.certificate)}\n        key: ${base64(admin.key)}\n`,
  );
  await untilMachines(datacenter, () =>
    [1, 2, 3].every(
      (n) => datacenter.machine(address(n)).state.services["etcd"]?.state === "Preparing" && served.portOf(address(n)) !== undefined,
    ),
  );
});

after(async () => {
  await served.close();
  await datacenter.close();
  await rm(folder, { recursive: true });
});

test("talosctl bootstraps, and a second bootstrap is refused", async () => {
  await talosctl("bootstrap");
  await untilMachines(datacenter, () =>
    datacenter
      .machines()
      .slice(0, 4)
      .every((machine) => machine.state.kubernetes.isNodeReady),
  );
  const members = (): readonly boolean[] => datacenter.etcdClusters()[0]?.members.map((member) => member.isLearner) ?? [];
  await untilMachines(datacenter, () => members().length === 3 && !members().includes(true));
  await assert.rejects(talosctl("bootstrap"), /AlreadyExists desc = etcd data directory is not empty/);
});

const looks: readonly { args: readonly string[]; want: readonly RegExp[] }[] = [
  { args: ["version"], want: [/Tag: +v1\.13\.9/, new RegExp(`NODE: +${text(1)}`), /Enabled: +RBAC/] },
  { args: ["services"], want: [/etcd +Running +OK/, /kubelet +Running +OK/, /apid +Running +OK/] },
  { args: ["etcd", "members"], want: [new RegExp(`${text(3)}:2380`), /LEARNER\n(?:.*false\n){3}$/] },
  { args: ["etcd", "status"], want: [/3\.6\.12/] },
  {
    args: ["get", "members"],
    want: [
      new RegExp(`controlplane +Talos \\(v1\\.13\\.9\\) +\\["${text(3)}"\\]`),
      new RegExp(`worker +Talos \\(v1\\.13\\.9\\) +\\["${text(4)}"\\]`),
    ],
  },
  { args: ["get", "machinestatus"], want: [/MachineStatus +machine +\d+ +running +true/] },
  {
    args: ["get", "machinestatus", "-o", "yaml"],
    want: [/spec:\n {4}stage: running\n {4}status:\n {8}ready: true\n {8}unmetConditions: \[\]/],
  },
  { args: ["get", "rd"], want: [/resourcedefinitions\.meta\.cosi\.dev/] },
  { args: ["get", "links"], want: [/eth0 +1 +ether/] },
  { args: ["get", "nodestatus"], want: [/READY +UNSCHEDULABLE/, /true +false/] },
  { args: ["get", "etcdmember"], want: [/MEMBER ID/, /[0-9a-f]{16}/] },
  { args: ["get", "services"], want: [/RUNNING +HEALTHY/, /etcd +1 +true +true/] },
  { args: ["get", "info"], want: [/CLUSTER ID +CLUSTER NAME/, /demo/] },
  { args: ["get", "disks"], want: [/sda +1 +107 GB/] },
  { args: ["get", "addresses"], want: [new RegExp(`eth0/${text(1)}/24`)] },
  { args: ["-n", address(4), "get", "machinetype"], want: [/worker/] },
  { args: ["-n", `${address(1)},${address(2)}`, "get", "hostname"], want: [new RegExp(text(1)), new RegExp(text(2))] },
  { args: ["health", "--wait-timeout", WAITS], want: [/waiting for all k8s nodes to report ready: OK/] },
  { args: ["logs", "etcd"], want: [/Started task etcd/] },
  { args: ["read", "/proc/sys/kernel/random/boot_id"], want: [/^[0-9a-f-]{36}\n$/] },
  { args: ["containers"], want: [/etcd +etcd:v1\.13\.9 +\d+ +RUNNING/] },
  { args: ["processes"], want: [/init/, /kubelet/] },
  { args: ["memory"], want: [new RegExp(text(1))] },
  { args: ["mounts"], want: [/\/var/] },
  { args: ["etcd", "alarm", "list"], want: [/^/] },
  { args: ["etcd", "defrag"], want: [/^/] },
  { args: ["usage", "/etc"], want: [/\/etc|\./] },
  { args: ["list", "/etc"], want: [new RegExp(text(1))] },
  { args: ["image", "pull", "registry.k8s.io/pause:3.10"], want: [/^/] },
  { args: ["image", "list"], want: [/registry\.k8s\.io\/pause:3\.10 +sha256:/] },
  { args: ["meta", "write", "0x0c", "rack 7"], want: [/^/] },
  { args: ["get", "metakeys"], want: [/0x0c +1 +rack 7/] },
  { args: ["time"], want: [new RegExp(text(1))] },
];
for (const { args, want } of looks) {
  test(`talosctl ${args.join(" ")}`, async () => {
    const printed = await talosctl(...args);
    for (const pattern of want) assert.match(printed, pattern);
  });
}

test("talosctl says what is not there as on a genuine node", async () => {
  await assert.rejects(talosctl("get", "nonsense"), /resource "nonsense" is not registered/);
  await assert.rejects(talosctl("-n", address(4), "bootstrap"), /Unimplemented desc = bootstrap is only available on control plane nodes/);
});

test("talosctl fetches the kubeconfig", async () => {
  const file = join(folder, "kubeconfig");
  await talosctl("kubeconfig", file, "--merge=false");
  assert.match(await readFile(file, "utf8"), new RegExp(`server: https://${text(1)}:6443`));
});

test("talosctl configures a spare machine that waits in maintenance", async () => {
  assert.match(await talosctl("version", "--insecure", "-n", address(5)), /Tag: +v1\.13\.9/);
  await talosctl("apply-config", "--insecure", "-n", address(5), "-f", spareConfig);
  await untilMachines(
    datacenter,
    () => datacenter.machine(address(5)).state.stage === "running" && served.portOf(address(5)) !== undefined,
  );
  assert.match(await talosctl("-n", address(5), "get", "machinestatus"), /running/);
});

test("talosctl reboots a machine and sees it come back", async () => {
  const before = datacenter.machine(address(4)).state.bootId;
  await talosctl("-n", address(4), "reboot", "--timeout", WAITS);
  assert.notEqual(datacenter.machine(address(4)).state.bootId, before);
});

test("talosctl upgrades a machine", async () => {
  const before = datacenter.machine(address(4)).state.bootId;
  const image = "ghcr.io/siderolabs/installer:v1.14.0";
  await talosctl("-n", address(4), "upgrade", "--image", image, "--drain=false", "--progress", "plain", "--timeout", WAITS);
  assert.notEqual(datacenter.machine(address(4)).state.bootId, before);
  assert.match(await talosctl("-n", address(4), "version"), /Tag: +v1\.14\.0/);
  const images = await talosctl("-n", address(4), "image", "list", "--namespace", "system");
  for (const name of [/siderolabs\/installer:v1\.14\.0 /, /siderolabs\/installer@sha256:[0-9a-f]{64} /]) assert.match(images, name);
});

test("talosctl upgrades in the older way, and rolls back", async () => {
  await talosctl("-n", address(5), "upgrade", "--legacy", "--image", "ghcr.io/siderolabs/installer:v1.14.0", "--timeout", WAITS);
  await untilMachines(datacenter, () => datacenter.machine(address(5)).state.stage === "running");
  assert.equal(datacenter.machine(address(5)).state.hardware.talosVersion, "v1.14.0");
  await talosctl("-n", address(5), "rollback");
  await untilMachines(
    datacenter,
    () =>
      datacenter.machine(address(5)).state.hardware.talosVersion === "v1.13.9" && datacenter.machine(address(5)).state.stage === "running",
  );
});

test("talosctl tells that the installer failed, and the machine goes on", async () => {
  datacenter.setReleaseFault("v1.14.1", { installerExitCode: 3 });
  const image = "ghcr.io/siderolabs/installer:v1.14.1";
  const before = datacenter.machine(address(4)).state;
  await assert.rejects(
    talosctl("-n", address(4), "upgrade", "--image", image, "--drain=false", "--progress", "plain", "--timeout", WAITS),
    /exit code:? 3|code 3/,
  );
  const { bootId, system } = datacenter.machine(address(4)).state;
  assert.deepEqual([bootId, system?.next, system?.other], [before.bootId, "v1.14.0", undefined]);
});

test("talosctl stages an upgrade, which the next boot installs", async () => {
  await talosctl(
    "-n",
    address(5),
    "upgrade",
    "--legacy",
    "--stage",
    "--image",
    "ghcr.io/siderolabs/installer:v1.14.0",
    "--wait=false",
    "--timeout",
    "50s",
  );
  await untilMachines(
    datacenter,
    () =>
      datacenter.machine(address(5)).state.hardware.talosVersion === "v1.14.0" && datacenter.machine(address(5)).state.stage === "running",
  );
});

test("talosctl rolls a machine back that boots and never gets healthy", async () => {
  datacenter.setReleaseFault("v1.14.2", { boot: "never-healthy" });
  const image = "ghcr.io/siderolabs/installer:v1.14.2";
  await assert.rejects(talosctl("-n", address(5), "upgrade", "--legacy", "--image", image, "--timeout", "10s"), /timeout|deadline/);
  // What talosctl began goes on, whether it came to its reboot meanwhile or not.
  await untilMachines(
    datacenter,
    () => datacenter.machine(address(5)).state.hardware.talosVersion === "v1.14.2" && served.portOf(address(5)) !== undefined,
  );
  assert.match(await talosctl("-n", address(5), "version"), /Tag: +v1\.14\.2/);
  assert.match(await talosctl("-n", address(5), "get", "machinestatus"), /booting/);
  await talosctl("-n", address(5), "rollback");
  await untilMachines(
    datacenter,
    () =>
      datacenter.machine(address(5)).state.hardware.talosVersion === "v1.14.0" && datacenter.machine(address(5)).state.stage === "running",
  );
});
