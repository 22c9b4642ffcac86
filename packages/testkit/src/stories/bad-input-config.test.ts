import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { describeMachineConfig } from "@talos-operator/talos";
import { apply, assertStoppedBy } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { bundleOf, putConfigs, writtenCluster, writtenConfig } from "./written-configs.ts";

const demo = { namespace: "default", name: "demo" };
const one = "10.5.0.1";

/** A config of a control plane with the value of one sysctl written in another way. */
const withValue = (text: string, value: string): string => text.replace(/(vm\.max_map_count: ).*/, `$1${value}`);
const patchedCluster = (machineSpec: object) =>
  demoCluster([one], [], { metalSpec: { machines: [{ address: one }], machineSpec: { installDisk: "/dev/sda", ...machineSpec } } });
const activeOf = (world: Story): string => world.datacenter.machine(one).state.config.active ?? "";

/** Nine levels of ten aliases: a billion items for a reader that follows them. */
const bomb = [
  "a: &a0 [x, x, x, x, x, x, x, x, x, x]",
  ...Array.from({ length: 9 }, (_, level) => `b${level}: &a${level + 1} [${Array.from({ length: 10 }, () => `*a${level}`).join(", ")}]`),
].join("\n");

describe("a config that no machine should get: told with its source, nothing made, nothing sent", () => {
  const texts: readonly { readonly name: string; readonly text: (good: string) => string; readonly says: RegExp }[] = [
    { name: "IN25: aliases of aliases", text: () => bomb, says: /no machine config \(YAML_/ },
    {
      name: "IN28: a document that stands in it twice",
      text: (good) =>
        `${good}---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: a\n---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: b\n`,
      says: /no machine config \(DUPLICATE_DOCUMENT/,
    },
    { name: "IN28: the main document twice", text: (good) => `${good}---\n${good}`, says: /no machine config \(DUPLICATE_DOCUMENT/ },
    {
      name: "IN29: a key that stands twice in one map",
      text: (good) => good.replace("machine:\n", "machine:\n    type: worker\n"),
      says: /no machine config \(/,
    },
    { name: "IN30: a tag that makes code", text: (good) => withValue(good, '!!js/function "function(){}"'), says: /no machine config \(/ },
    { name: "IN30: a tag of its own", text: (good) => withValue(good, "!secret a"), says: /no machine config \(/ },
    // Talos reads a date that stands without quotes as no text.
    {
      name: "IN32: a date without quotes",
      text: (good) => withValue(good, "2026-01-01"),
      says: /WRONG_TYPE at machine\.sysctls\.vm\.max_map_count/,
    },
    { name: "IN31: a tab for indentation", text: (good) => good.replace("machine:\n    ", "machine:\n\t"), says: /no machine config \(/ },
    { name: "IN31: half of a character", text: (good) => withValue(good, '"\ud800"'), says: /no machine config \(|not valid/ },
  ];
  for (const { name, text, says } of texts)
    test(name, () =>
      tell({}, async (world) => {
        await putConfigs(world, { "controlplane.yaml": text(writtenConfig("controlplane", await bundleOf(world))) });
        const before = process.memoryUsage().heapUsed;
        await apply(world, kinds.cluster, writtenCluster());
        await world.start();
        await assertStoppedBy(world, kinds.controlPlane, { reason: "InvalidConfig", says });
        assert.match(
          (await world.condition(kinds.controlPlane, "Ready"))?.message ?? "",
          /demo-config, key controlplane\.yaml.*Correct ConfigMap/,
        );
        assert.deepEqual(world.sent, []);
        assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
        assert.ok(process.memoryUsage().heapUsed - before < 512 * 1024 * 1024);
      }),
    );

  const patches: readonly { readonly name: string; readonly cluster: unknown; readonly reason: string; readonly says: RegExp }[] = [
    {
      name: "IN37: a disk that the machine does not have",
      cluster: patchedCluster({ installDisk: "/dev/sdz" }),
      reason: "InstallDiskUnclear",
      says: /demo-10\.5\.0\.1.*\/dev\/sdz/,
    },
    {
      name: "IN37: a disk that only a patch names, and that the machine does not have",
      cluster: patchedCluster({ configPatches: [{ machine: { install: { disk: "/dev/sdz" } } }] }),
      reason: "InstallDiskUnclear",
      says: /demo-10\.5\.0\.1.*\/dev\/sdz/,
    },
    {
      name: "IN37: a selector that fits no disk of the machine",
      cluster: patchedCluster({ diskSelector: { size: ">= 1TB", type: "nvme" } }),
      reason: "InstallDiskUnclear",
      says: /demo-10\.5\.0\.1 has no disk with size >= 1TB, type nvme \(it has \/dev\/sda: 107 GB virtio Simulated Disk\).*diskSelector/,
    },
    {
      name: "IN37: a link that leads to no disk of the machine",
      cluster: patchedCluster({ installDisk: "/dev/disk/by-id/nvme-none" }),
      reason: "InstallDiskUnclear",
      says: /demo-10\.5\.0\.1 has no disk \/dev\/disk\/by-id\/nvme-none/,
    },
    {
      name: "IN37: a selector in a patch, of which nobody can see which disk it finds",
      cluster: patchedCluster({ configPatches: [{ machine: { install: { diskSelector: { size: ">= 1GB" } } } }] }),
      reason: "InvalidConfig",
      says: /a patch chooses the install disk.*installDisk/,
    },
    {
      name: "IN38: an installer that only a patch names",
      cluster: patchedCluster({ configPatches: [{ machine: { install: { image: "ghcr.io/a$(reboot):v1" } } }] }),
      reason: "InvalidConfig",
      says: /installer in its machine config.*is no image/,
    },
  ];
  for (const { name, cluster, reason, says } of patches)
    test(name, () =>
      tell({}, async (world) => {
        await apply(world, kinds.cluster, cluster);
        await world.start();
        // What is wrong with the spec the composer says, what is wrong with the machine the control plane.
        await assertStoppedBy(world, reason === "InvalidConfig" ? kinds.cluster : kinds.controlPlane, { reason, says });
        assert.deepEqual(world.sent, []);
      }),
    );

  test("networks of both families are those of every machine", () =>
    tell({}, async (world) => {
      const podCIDR = ["10.244.0.0/16", "fd00:10:244::/56"];
      const serviceCIDR = ["10.96.0.0/12", "fd00:10:96::/112"];
      await apply(world, kinds.cluster, demoCluster(["10.5.0.1"], ["10.5.0.4"], { podCIDR, serviceCIDR }));
      await world.start();
      await world.untilReady();
      for (const address of ["10.5.0.1", "10.5.0.4"]) {
        const text = world.datacenter.machine(address).state.config.active ?? "";
        const { podSubnets, serviceSubnets } = describeMachineConfig(text);
        assert.deepEqual([podSubnets, serviceSubnets], [podCIDR, serviceCIDR], address);
      }
    }));

  test("a selector that fits a disk installs Talos there, and a change of it later touches no machine", () =>
    tell({}, async (world) => {
      await apply(world, kinds.cluster, patchedCluster({ diskSelector: { model: "Simulated*", size: ">= 100GB" } }));
      await world.start();
      await world.untilReady();
      const before = world.sent.length;
      const value = { spec: patchedCluster({ diskSelector: { model: "Other*" } }).spec };
      await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
      await world.time.advance(120_000);
      assert.deepEqual(world.sent.slice(before), []);
    }));

  for (const { name, over } of [
    { name: "names no image, and the usual one is not among them", over: {} },
    { name: "names an image of another", over: { image: "registry.example.org/siderolabs/installer:v1.13.9" } },
    { name: "names one whose name only begins the same", over: { image: "registry.internal.evil.example.org/installer:v1.13.9" } },
    {
      name: "has a patch that names another",
      over: { image: "registry.internal/talos/installer", configPatches: [{ machine: { install: { image: "quay.io/a/b:v1" } } }] },
    },
  ])
    test(`IN38: with registries that installers may come from, a cluster that ${name}`, () =>
      tell({ operator: { installerRegistries: ["registry.internal"] } }, async (world) => {
        await apply(world, kinds.cluster, patchedCluster(over));
        await world.start();
        await assertStoppedBy(world, kinds.cluster, {
          reason: "InvalidConfig",
          says: /is from a registry that this operator takes no installer from.*--installer-registries/,
        });
        assert.deepEqual(world.sent, []);
      }));

  test("IN38: with registries that installers may come from, a cluster that takes its own from there, by digest too", () =>
    tell({ operator: { installerRegistries: ["registry.internal/"] } }, async (world) => {
      await apply(world, kinds.cluster, patchedCluster({ image: `registry.internal/talos/installer@sha256:${"a".repeat(64)}` }));
      await world.start();
      await world.untilReady();
    }));
});

describe("a value reaches the machine as it was written", () => {
  for (const value of ["no", "0o17", "1e3", "12:30:45", "0644", "0x1F", "~x", "yes", "1_000"])
    test(`IN32: ${value}, in a whole config`, () =>
      tell({}, async (world) => {
        const good = writtenConfig("controlplane", await bundleOf(world));
        await putConfigs(world, { "controlplane.yaml": withValue(good, value) });
        await apply(world, kinds.cluster, writtenCluster());
        await world.start();
        await world.until("configured", async () => activeOf(world) !== "", 60);
        assert.match(activeOf(world), new RegExp(`vm\\.max_map_count: ["']?${value}["']?\\n`));
      }));

  test("IN32: as text in patches, which come as JSON", () =>
    tell({}, async (world) => {
      const values = ["no", "0o17", "1e3", "2026-01-01", "12:30:45", "0644"];
      const sysctls = Object.fromEntries(values.map((value, index) => [`kernel.a${index}`, value]));
      await apply(world, kinds.cluster, patchedCluster({ configPatches: [{ machine: { sysctls } }] }));
      await world.start();
      await world.until("configured", async () => activeOf(world) !== "", 60);
      values.forEach((value, index) => assert.match(activeOf(world), new RegExp(`kernel\\.a${index}: ["']?${value}["']?\\n`)));
    }));

  test("IN31: with the mark and line ends of other systems, and letters of other scripts", () =>
    tell({}, async (world) => {
      const good = writtenConfig("controlplane", await bundleOf(world), {
        machine: { nodeAnnotations: { "example.org/name": "Größe 機械 😀" } },
      });
      await putConfigs(world, { "controlplane.yaml": `\ufeff${good.replaceAll("\n", "\r\n")}` });
      await apply(world, kinds.cluster, writtenCluster());
      await world.start();
      await world.untilReady();
      const [first] = parseKubernetesYaml(activeOf(world)) as readonly { machine: { nodeAnnotations: object; sysctls: object } }[];
      assert.deepEqual(first?.machine.nodeAnnotations, { "example.org/name": "Größe 機械 😀" });
      assert.deepEqual(first.machine.sysctls, { "vm.max_map_count": "262144" });
    }));
});

describe("a change that is no configuration change", () => {
  async function ready(world: Story): Promise<number> {
    await apply(world, kinds.cluster, demoCluster([one]));
    await world.start();
    await world.untilReady();
    await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "UpToDate");
    return world.sent.length;
  }
  const edit = (world: Story, controlPlane: object): Promise<unknown> =>
    world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec: { controlPlane } } });

  for (const { name, change, says } of [
    {
      name: "Talos",
      change: { version: "v1.12.11", kubeVersion: "v1.35.4" },
      says: /runs? Talos v1\.13\.9, the spec asks for v1\.12\.11.*A downgrade needs the annotation talos-operator\.dev\/allow-downgrade/,
    },
    {
      name: "Kubernetes",
      change: { kubeVersion: "v1.35.4" },
      says: /Kubernetes runs v1\.36\.3, the spec asks for v1\.35\.4.*Kubernetes keeps what it runs/,
    },
  ])
    test(`IN41: a downgrade of ${name} is told and not done`, () =>
      tell({}, async (world) => {
        const sent = await ready(world);
        await edit(world, change);
        await world.until("told", async () => (await world.condition(kinds.controlPlane, "UpgradePending"))?.status === "True");
        assert.match((await world.condition(kinds.controlPlane, "UpgradePending"))?.message ?? "", says);
        await world.time.advance(600_000);
        assert.equal(world.sent.length, sent);
      }));

  for (const install of [
    { extraKernelArgs: ["quiet"], grubUseUKICmdline: false },
    { extensions: [{ image: "ghcr.io/siderolabs/gvisor:v1" }] },
  ])
    test(`IN42: ${Object.keys(install)[0] ?? ""} of a running machine need an installation, and are not applied`, () =>
      tell({}, async (world) => {
        const sent = await ready(world);
        await edit(world, { metalSpec: { machineSpec: { configPatches: [{ machine: { install } }] } } });
        await world.until("told", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "NotSent");
        const { message } = (await world.condition(kinds.controlPlane, "ConfigUpToDate")) ?? { message: "" };
        assert.match(
          message,
          new RegExp(`^machine\\.install\\.${Object.keys(install)[0] ?? ""}\\S* of TalosControlPlane demo is not sent \\(demo-10\\.5`),
        );
        await world.time.advance(600_000);
        assert.equal(world.sent.length, sent);
      }));
});
