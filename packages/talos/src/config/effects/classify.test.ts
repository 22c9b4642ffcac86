import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseSecretsBundle } from "../../secrets/parse.ts";
import { generateMachineConfig } from "../generate/generate.ts";
import type { MachineConfigInput } from "../generate/input.ts";
import { patchMachineConfig } from "../patch/patch.ts";
import { classifyConfigEffects } from "./classify.ts";
import type { ConfigEffect, ConfigEffects } from "./effect.ts";

const bundle = readFileSync(new URL("../../../testdata/golden/genconfig/c1.13-cli/secrets.yaml", import.meta.url), "utf8");
const base: MachineConfigInput = {
  role: "controlplane",
  clusterName: "alpha",
  endpoint: "https://192.0.2.10:6443",
  contract: "1.13",
  kubernetesVersion: "1.36.1",
  secrets: parseSecretsBundle(bundle),
  install: { disk: "/dev/sda" },
};

function effectsOf(patch: string, talos = "v1.13.2", contract = "1.13"): ConfigEffects {
  const text = generateMachineConfig({ ...base, contract });
  return classifyConfigEffects(text, patchMachineConfig(text, [patch], { contract }), talos);
}

const shortOf = ({ worst, services, rebootsItself, changes }: ConfigEffects): unknown => [
  worst,
  services.join(" "),
  rebootsItself,
  changes.map(({ change, path }) => `${change} ${path}`).join(", "),
];

interface Case {
  readonly name: string;
  readonly patch: string;
  readonly talos?: string;
  readonly contract?: string;
  readonly want: readonly [ConfigEffect | "none", string, boolean, string];
}

const cases: readonly Case[] = [
  {
    name: "a label without a value is a change",
    patch: 'machine: {nodeLabels: {a: ""}}',
    contract: "1.7",
    want: ["live", "", false, "added machine.nodeLabels.a"],
  },
  { name: "the same config changes nothing", patch: "machine: {}", want: ["none", "", false, ""] },
  {
    name: "a label is live",
    patch: "machine: {nodeLabels: {example.org/rack: a1}}",
    want: ["live", "", false, 'added machine.nodeLabels["example.org/rack"]'],
  },
  {
    name: "a kubelet image restarts the kubelet",
    patch: "machine: {kubelet: {image: example.org/kubelet:v1.36.2}}",
    want: ["restarts-service", "kubelet", false, "changed machine.kubelet.image"],
  },
  {
    name: "free-form kubelet settings are compared field by field",
    patch: "machine: {kubelet: {extraConfig: {maxPods: 200}}}",
    want: ["restarts-service", "kubelet", false, "added machine.kubelet.extraConfig.maxPods"],
  },
  {
    name: "Talos 1.13 reboots by itself for a variable",
    patch: "machine: {env: {NO_PROXY: example.org}}",
    want: ["reboot", "", true, "added machine.env.NO_PROXY"],
  },
  {
    name: "Talos 1.14 leaves the reboot for a variable to us",
    patch: "machine: {env: {NO_PROXY: example.org}}",
    talos: "v1.14.0",
    want: ["reboot", "", false, "added machine.env.NO_PROXY"],
  },
  {
    name: "Talos 1.13 reboots by itself for udev rules, which are live from 1.14 on",
    patch: "machine: {udev: {rules: ['SUBSYSTEM==\"block\"']}}",
    want: ["reboot", "", true, "added machine.udev.rules"],
  },
  {
    name: "udev rules are live in Talos 1.14",
    patch: "machine: {udev: {rules: ['SUBSYSTEM==\"block\"']}}",
    talos: "v1.14.0",
    want: ["live", "", false, "added machine.udev.rules"],
  },
  {
    name: "annotations make Talos 1.7 reboot",
    patch: "machine: {nodeAnnotations: {a: b}}",
    talos: "v1.7.7",
    contract: "1.7",
    want: ["reboot", "", true, "added machine.nodeAnnotations.a"],
  },
  {
    name: "annotations are live from Talos 1.8 on",
    patch: "machine: {nodeAnnotations: {a: b}}",
    talos: "v1.8.4",
    contract: "1.8",
    want: ["live", "", false, "added machine.nodeAnnotations.a"],
  },
  {
    name: "etcd takes its settings at the next boot only, although Talos applies them at once",
    patch: "cluster: {etcd: {extraArgs: {quota-backend-bytes: '4294967296'}}}",
    want: ["reboot", "", false, "added cluster.etcd.extraArgs.quota-backend-bytes"],
  },
  {
    name: "the install disk is read by an install only",
    patch: "machine: {install: {disk: /dev/nvme0n1}}",
    want: ["reinstall", "", false, "changed machine.install.disk"],
  },
  {
    name: "a disk that is listed is formatted",
    patch: "machine: {disks: [{device: /dev/sdb, partitions: [{mountpoint: /var/mnt/a}]}]}",
    want: ["destroys-data", "", true, "added machine.disks[0].device, added machine.disks[0].partitions[0].mountpoint"],
  },
  {
    name: "encryption of a partition that exists needs a wipe",
    patch: "machine: {systemDiskEncryption: {ephemeral: {provider: luks2, keys: [{nodeID: {}, slot: 0}]}}}",
    want: [
      "destroys-data",
      "",
      true,
      "added machine.systemDiskEncryption.ephemeral.provider, added machine.systemDiskEncryption.ephemeral.keys[0].nodeID",
    ],
  },
  {
    name: "a role does not change",
    patch: "machine: {type: worker}",
    want: ["forbidden", "", true, "changed machine.type"],
  },
  {
    name: "a new document is one change",
    patch: "apiVersion: v1alpha1\nkind: TimeSyncConfig\nntp: {servers: [192.0.2.1]}\n",
    want: ["live", "", false, "added "],
  },
  {
    name: "a document that goes is one change",
    patch: "apiVersion: v1alpha1\nkind: HostnameConfig\n$patch: delete\n",
    want: ["restarts-service", "kubelet", false, "removed "],
  },
  {
    name: "an extension restarts by its name",
    patch: "apiVersion: v1alpha1\nkind: ExtensionServiceConfig\nname: tailscale\nenvironment: [TS_AUTHKEY=abcdef]\n",
    want: ["restarts-service", "ext-tailscale", false, "added "],
  },
  {
    name: "the documents of 1.14 are classified field by field",
    patch: "apiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels: {a: b}\nregisterWithFQDN: true\n",
    talos: "v1.14.0",
    contract: "1.14",
    want: ["restarts-service", "kubelet", false, "added registerWithFQDN, added labels.a"],
  },
  {
    name: "another module is loaded at once",
    patch: "machine: {kernel: {modules: [{name: nbd}]}}",
    want: ["live", "", false, "added machine.kernel.modules[0].name"],
  },
];

describe("what a change costs", () => {
  for (const { name, patch, talos, contract, want } of cases) {
    test(name, () => assert.deepEqual(shortOf(effectsOf(patch, talos, contract)), want));
  }
});

test("a list that grows in the middle shows the new item only", () => {
  const config = (items: string): string => `machine: {network: {interfaces: [${items}]}}\n`;
  const { changes } = classifyConfigEffects(
    config("{interface: eth0, mtu: 1500}, {interface: eth2}"),
    config("{interface: eth0, mtu: 1500}, {interface: eth1}, {interface: eth2}"),
    "1.13.0",
  );
  assert.deepEqual(
    changes.map(({ path, change }) => [path, change]),
    [["machine.network.interfaces[1].interface", "added"]],
  );
});

describe("what means the same is no change", () => {
  const pairs = [
    ["machine: {time: {bootTimeout: 90s}}", "machine: {time: {bootTimeout: 1m30s}}"],
    ["machine: {nodeLabels: {a: b}}", "machine:\n  nodeLabels:\n    'a': \"b\"\n  files: []\n"],
    ["machine: {time: ~}", "machine: {}"],
    ["machine: {install: {wipe: true}}", "machine: {install: {wipe: yes}}"],
    ["apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: a\n", "kind: KmsgLogConfig\nname: a\napiVersion: v1alpha1\n"],
  ] as const;
  for (const [before, after] of pairs) {
    test(JSON.stringify(after), () => assert.deepEqual(classifyConfigEffects(before, after, "1.13.0").changes, []));
  }
});

describe("what this release does not know may need a reboot", () => {
  const texts = [
    ["a field", "machine: {teleport: {enabled: true}}", "machine.teleport.enabled"],
    ["a kind", "apiVersion: v1alpha1\nkind: TeleportConfig\nenabled: true\n", ""],
    ["a field of a document", "apiVersion: v1alpha1\nkind: KubeSpanConfig\nwarp: 9\n", "warp"],
  ] as const;
  for (const [name, text, path] of texts) {
    test(name, () => {
      const old = text.startsWith("machine") ? "machine: {}" : path === "" ? "machine: {}" : "apiVersion: v1alpha1\nkind: KubeSpanConfig\n";
      const { worst, changes } = classifyConfigEffects(
        old,
        `${text}\n${text.startsWith("machine") || path !== "" ? "" : "---\nmachine: {}\n"}`,
        "1.99.0",
      );
      assert.equal(worst, "unknown");
      assert.deepEqual(
        changes.map((change) => [change.path, change.effect]),
        [[path, "unknown"]],
      );
    });
  }
});

test("no secret of a bundle is in the answer, however the configs differ", () => {
  const secrets = [...bundle.matchAll(/(?<!\bid):\s+(\S{16,})$/gm)].map(([, secret]) => String(secret));
  assert.ok(secrets.length > 10);
  for (const contract of ["1.6", "1.13", "1.14"]) {
    const text = generateMachineConfig({ ...base, contract });
    const worker = generateMachineConfig({ ...base, role: "worker", contract, clusterName: "beta" });
    for (const [before, after] of [
      [text, worker],
      [worker, text],
      ["machine: {}", text],
      [text, "machine: {}"],
      [text, text.replaceAll("token: ", "token: x")],
    ] as const) {
      const shown = JSON.stringify(classifyConfigEffects(before, after, contract));
      for (const secret of secrets) {
        const decoded = Buffer.from(secret, "base64").toString();
        assert.ok(!shown.includes(secret), "a secret is shown");
        assert.ok(!decoded.includes("PRIVATE KEY") || !shown.includes(decoded.split("\n")[1] as string), "a key is shown");
      }
    }
  }
});

test("credentials in addresses and free-form parts are hidden", () => {
  const { changes } = classifyConfigEffects(
    "machine: {}",
    [
      "machine:",
      "  logging: {destinations: [{endpoint: 'tcp://user:hunter2@192.0.2.1:514?token=hunter2', format: json_lines}]}",
      "  kubelet: {extraConfig: {webhook: {token: hunter2}, list: [{password: hunter2}]}}",
      "  teleport: {deep: [{privateKey: hunter2}]}",
    ].join("\n"),
    "1.13.0",
  );
  assert.ok(changes.length >= 4);
  assert.ok(!JSON.stringify(changes).includes("hunter2"));
});
