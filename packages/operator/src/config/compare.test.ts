import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { generateMachineConfig, patchMachineConfig } from "@talos-operator/talos";
import type { MachineConfigInput } from "@talos-operator/talos";
import { compareConfigs, routeOf } from "./compare.ts";
import { renderMachineConfig } from "./render.ts";
import { SUPPORTED_TALOS } from "./supported-versions.ts";

const secrets: MachineConfigInput["secrets"] = {
  cluster: { id: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", secret: "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB=" },
  secrets: { bootstrapToken: "aaaaaa.aaaaaaaaaaaaaaaa", secretboxEncryptionSecret: "CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC=" },
  trustdInfo: { token: "bbbbbb.bbbbbbbbbbbbbbbb" },
  certs: {
    etcd: { certificate: "etcd", key: "etcd" },
    k8s: { certificate: "k8s", key: "k8s" },
    k8sAggregator: { certificate: "aggregator", key: "aggregator" },
    k8sServiceAccount: { key: "serviceAccount" },
    os: { certificate: "os", key: "os" },
  },
};

const addresses = new Set(["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.100"]);

function configOf(contract: string, over: Partial<MachineConfigInput> = {}): string {
  return generateMachineConfig({
    role: "controlplane",
    clusterName: "demo",
    endpoint: "https://10.0.0.100:6443",
    contract,
    kubernetesVersion: "v1.35.4",
    secrets,
    install: { disk: "/dev/sda", image: "ghcr.io/siderolabs/installer:v1.13.9" },
    additionalSans: ["10.0.0.1", "10.0.0.100"],
    ...over,
  });
}

const compare = (desired: string, live: string, talosVersion = "v1.13.9"): ReturnType<typeof compareConfigs> =>
  compareConfigs({ desired, live, talosVersion, addresses });
const pathsIn = (desired: string, live: string): readonly string[] => compare(desired, live).changes.map(({ path }) => path);

for (const contract of ["1.8", "1.12", "1.13", "1.14"])
  describe(`what a machine with a configuration of Talos ${contract} needs`, () => {
    const live = configOf(contract);
    const nothing = [
      { name: "nothing when it is written otherwise", desired: live, text: `# a comment\n${live}` },
      {
        name: "nothing when another Kubernetes patch release runs",
        desired: live,
        text: configOf(contract, { kubernetesVersion: "v1.35.9" }),
      },
      {
        name: "nothing when another installer, disk or wipe is named",
        desired: live,
        text: configOf(contract, { install: { disk: "/dev/nvme0n1", image: "factory.talos.dev/installer/abc:v1.13.1", wipe: true } }),
      },
      {
        name: "nothing when it was made for other control planes",
        desired: configOf(contract, { additionalSans: ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.100"] }),
        text: live,
      },
    ];
    for (const { name, desired, text } of nothing) test(name, () => assert.deepEqual(pathsIn(desired, text), []));

    test("a name in certificates that a person asked for", () => {
      const desired = configOf(contract, { additionalSans: ["10.0.0.1", "10.0.0.100", "api.example.org"] });
      assert.ok(pathsIn(desired, live).some((path) => path.endsWith("SANs")));
    });

    test("what is sent keeps the versions that run", () => {
      const running = configOf(contract, {
        kubernetesVersion: "v1.35.9",
        install: { disk: "/dev/sdb", image: "example.org/installer:v1.13.1" },
      });
      const desired = patchMachineConfig(live, ['{"machine":{"sysctls":{"vm.swappiness":"1"}}}'], { contract });
      const { wanted } = compare(desired, running);
      assert.ok(wanted.includes("vm.swappiness"));
      assert.ok(wanted.includes("kubelet:v1.35.9"));
      assert.ok(!wanted.includes("v1.35.4"), "the older version would be sent");
      assert.ok(wanted.includes("example.org/installer:v1.13.1"));
      assert.ok(wanted.includes("/dev/sdb"));
    });
  });

describe("how a change gets onto a machine", () => {
  const live = configOf("1.13");
  const cases = [
    { name: "a label is tried", patch: '{"machine":{"nodeLabels":{"a":"b"}}}', route: "guarded" },
    { name: "kubelet arguments are tried", patch: '{"machine":{"kubelet":{"extraArgs":{"v":"4"}}}}', route: "guarded" },
    { name: "etcd's settings need a boot", patch: '{"cluster":{"etcd":{"extraArgs":{"heartbeat-interval":"500"}}}}', route: "reboot" },
    { name: "what Talos 1.13 applies by a boot of its own needs ours", patch: '{"machine":{"env":{"A":"b"}}}', route: "reboot" },
    {
      name: "kernel arguments of the installer are never sent",
      patch: '{"machine":{"install":{"extraKernelArgs":["a=b"]}}}',
      route: "never",
    },
    {
      name: "the gravest decides",
      patch: '{"machine":{"nodeLabels":{"a":"b"},"disks":[{"device":"/dev/sdb","partitions":[{"mountpoint":"/var/mnt/a"}]}]}}',
      route: "never",
    },
    { name: "no change", patch: '{"machine":{}}', route: "none" },
  ];
  for (const { name, patch, route } of cases)
    test(name, () => assert.equal(routeOf(compare(patchMachineConfig(live, [patch]), live).changes), route));

  test("the same change is tried on a Talos that applies it at once", () => {
    const desired = patchMachineConfig(live, ['{"machine":{"udev":{"rules":["SUBSYSTEM==\\"block\\""]}}}']);
    assert.equal(routeOf(compare(desired, live, "v1.13.9").changes), "reboot");
    assert.equal(routeOf(compare(desired, live, "v1.14.0").changes), "guarded");
  });
});

test("a configuration keeps the contract it was made for when the machine's Talos is newer", () => {
  const input = {
    role: "controlplane",
    clusterName: "demo",
    endpoint: "https://10.0.0.100:6443",
    controlPlane: { mode: "metal", version: "v1.13.9", kubeVersion: "v1.35.4" },
    machineSpec: {},
    readBy: undefined,
    platform: "metal",
    installDisk: "/dev/sda",
    addresses: ["10.0.0.1"],
    secrets,
  } as const;
  const made = renderMachineConfig({ ...input, version: "v1.13.9" });
  assert.equal(compare(renderMachineConfig({ ...input, version: "v1.14.0", contract: "1.13" }), made, "v1.14.0").changes.length, 0);
  assert.ok(compare(renderMachineConfig({ ...input, version: "v1.14.0" }), made, "v1.14.0").changes.length > 0);
});

/** Every hop between minors of which this operator writes configs. */
const hops = SUPPORTED_TALOS.slice(1).map((to, index) => ({ from: SUPPORTED_TALOS[index] ?? "", to }));
const release = (contract: string): string => `v${contract}.0`;
const withoutInstaller = (text: string): string => text.replaceAll(/^.*installer.*$/gm, "");
const keys = {
  keys: [
    { slot: 0, nodeID: {} },
    { slot: 1, tpm: {} },
  ],
};
const locked = ["state", "ephemeral"].map((name) => ({
  inside: { [name]: { provider: "luks2", ...keys } },
  document: { apiVersion: "v1alpha1", kind: "VolumeConfig", name: name.toUpperCase(), encryption: { provider: "luks2", ...keys } },
}));
const lockedBy = {
  "the document v1alpha1": [{ machine: { systemDiskEncryption: Object.assign({}, ...locked.map(({ inside }) => inside)) } }],
  "documents of volumes": locked.map(({ document }) => document),
};

describe("disks that are locked are unlocked by the same keys, slots and volumes after a hop", () => {
  for (const { from, to } of hops)
    for (const [how, configPatches] of Object.entries(lockedBy))
      for (const role of ["controlplane", "worker"] as const)
        test(`from ${from} to ${to}, ${role}, keys in ${how}`, () => {
          const render = (version: string, pinned?: string): string =>
            renderMachineConfig({
              role,
              clusterName: "demo",
              endpoint: "https://10.0.0.100:6443",
              controlPlane: { mode: "metal", version, kubeVersion: "v1.33.6" },
              machineSpec: { configPatches },
              version,
              readBy: undefined,
              ...(pinned === undefined ? {} : { contract: pinned }),
              platform: "metal",
              installDisk: "/dev/sda",
              addresses: ["10.0.0.1"],
              secrets,
            });
          const before = render(release(from));
          const after = render(release(to), from);
          assert.match(before, /luks2/);
          assert.equal(withoutInstaller(after), withoutInstaller(before));
          assert.deepEqual(compare(after, before, release(to)).changes, []);
        });
});

describe("a machine of Talos 1.14 whose disk nobody wrote down", () => {
  const image = "ghcr.io/siderolabs/installer:v1.14.0";
  const chosen = configOf("1.14", { install: { disk: "/dev/sda", image } });
  const desired = configOf("1.14", { install: { image } });
  const live = chosen.replace(/match: .*dev_path.*/, "match: system_disk");

  for (const [name, text] of Object.entries({ "by a path": chosen, "by other words": live }))
    test(`keeps what chose it ${name}, and takes changes of other settings`, () => {
      assert.match(text, name === "by a path" ? /dev_path/ : /kind: UnattendedInstallConfig[^]*match: system_disk/);
      assert.deepEqual(compare(desired, text, "v1.14.0").changes, []);
      const changed = patchMachineConfig(desired, [JSON.stringify({ machine: { env: { PROOF: "1" } } })]);
      const { wanted, changes } = compare(changed, text, "v1.14.0");
      assert.deepEqual(
        changes.map(({ path }) => path),
        ["machine.env.PROOF"],
      );
      assert.equal(routeOf(changes), "reboot");
      const [, match] = /match: (.*)/.exec(text.slice(text.indexOf("UnattendedInstallConfig"))) ?? [];
      assert.ok(match !== undefined && wanted.slice(wanted.indexOf("UnattendedInstallConfig")).includes(match), match);
    });
});
