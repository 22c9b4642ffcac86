import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { KubeApiError } from "@talos-operator/kube-runtime";
import { apply, assertStoppedBy } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const one = ["10.5.0.1"];
const addresses = (count: number) => Array.from({ length: count }, (_, index) => `10.5.0.${index + 1}`);
const machines = (list: readonly string[], machineSpec: object = { installDisk: "/dev/sda" }) => ({
  metalSpec: { machines: list.map((address) => ({ address })), machineSpec },
});

interface Refusal {
  readonly name: string;
  readonly cluster: unknown;
  /** Of the condition Ready, or the API's own word when the schema refuses it already. */
  readonly reason: string;
  /** Field and remedy. */
  readonly says: RegExp;
}

const endpoint = (text: string) => demoCluster(one, [], { endpoint: text });

const refusals: readonly Refusal[] = [
  ...[
    "https://user:pass@10.5.0.100:6443",
    "https://10.5.0.100:6443/api",
    "https://10.5.0.100:6443?a=b",
    "https://10.5.0.100:6443#a",
    "https://",
    "https://10.5.0.100:6443 ",
    "https://[::1]:6443",
    "ftp://10.5.0.100",
    "10.5.0.100:6443",
  ].map((text) => ({
    name: `IN43: the endpoint ${text}`,
    cluster: endpoint(text),
    reason: "Invalid",
    says: /spec\.controlPlane\.endpoint/,
  })),
  ...(
    [
      ["https://10.5.0.100:0", /spec\.controlPlane\.endpoint.*port/],
      ["https://10.5.0.100:70000", /spec\.controlPlane\.endpoint.*port/],
      ["https://127.0.0.1:6443", /spec\.controlPlane\.endpoint.*127\.0\.0\.1/],
      ["https://localhost:6443", /spec\.controlPlane\.endpoint.*localhost/],
      ["https://0.0.0.0:6443", /spec\.controlPlane\.endpoint.*0\.0\.0\.0/],
      ["https://169.254.169.254:6443", /spec\.controlPlane\.endpoint.*169\.254\.169\.254/],
      ["https://2130706433:6443", /spec\.controlPlane\.endpoint/],
      ["https://0x7f.1:6443", /spec\.controlPlane\.endpoint/],
    ] as const
  ).map(([text, says]) => ({ name: `IN43: the endpoint ${text}`, cluster: endpoint(text), reason: "InvalidEndpoint", says })),
  {
    name: "IN46: an endpoint inside the service network",
    cluster: endpoint("https://10.96.0.1:6443"),
    reason: "AddressInClusterRange",
    says: /spec\.controlPlane\.endpoint.*10\.96\.0\.0\/12/,
  },
  {
    name: "IN46: a machine inside a podCIDR that the spec names",
    cluster: demoCluster(one, [], { podCIDR: ["10.5.0.0/16"], endpoint: "https://10.6.0.1:6443" }),
    reason: "AddressInClusterRange",
    says: /spec\.controlPlane\.metalSpec\.machines\[0\]\.address.*10\.5\.0\.0\/16.*podCIDR/,
  },
  {
    name: "IN46: a machine inside a serviceCIDR that the spec names",
    cluster: demoCluster(one, [], { serviceCIDR: ["10.5.0.0/24"], endpoint: "https://10.6.0.1:6443" }),
    reason: "AddressInClusterRange",
    says: /spec\.controlPlane\.metalSpec\.machines\[0\]\.address.*10\.5\.0\.0\/24.*serviceCIDR/,
  },
  {
    name: "IN46: a worker inside the default service network",
    cluster: demoCluster(one, ["10.96.3.4"]),
    reason: "AddressInClusterRange",
    says: /spec\.worker\.metalSpec\.machines\[0\]\.address.*10\.96\.0\.0\/12/,
  },
  {
    name: "networks that overlap",
    cluster: demoCluster(one, [], { podCIDR: ["10.96.0.0/16"] }),
    reason: "InvalidNetwork",
    says: /spec\.controlPlane\.podCIDR\[0\]/,
  },
  {
    name: "IN54: one address twice among the workers",
    cluster: demoCluster(one, ["10.5.0.4", "10.5.0.4"]),
    reason: "DuplicateAddress",
    says: /spec\.worker\.metalSpec\.machines\[1\]\.address.*machines\[0\]/,
  },
  ...[4, 8, 9].map((count) => ({
    name: `IN13: ${count} control planes`,
    cluster: demoCluster(addresses(count)),
    reason: "UnsupportedReplicas",
    says: /spec\.controlPlane\.metalSpec\.machines.*List /,
  })),
  {
    name: "no control plane",
    cluster: demoCluster([]),
    reason: "Invalid",
    says: /spec\.controlPlane.*list the control planes in metalSpec\.machines/,
  },
  // Valid in form, so the schema lets them pass: published manifests are taken as they are, and loopback may be opened by a flag.
  ...(
    [
      ["IN44", "127.0.0.1"],
      ["IN44", "0.0.0.0"],
      ["IN44", "::1"],
      ["IN44", "::ffff:127.0.0.1"],
      ["IN45", "169.254.169.254"],
      ["IN45", "100.100.100.200"],
      ["IN45", "fd00:ec2::254"],
      ["IN45", "metadata.google.internal"],
      ["IN44", "224.0.0.1"],
      ["IN44", "255.255.255.255"],
    ] as const
  ).map(([id, address]) => ({
    name: `${id}: the machine address ${address}`,
    cluster: demoCluster([address]),
    reason: "InvalidAddress",
    says: new RegExp(`spec\\.controlPlane\\.metalSpec\\.machines\\[0\\]\\.address.*${address.replaceAll(".", "\\.")}`),
  })),
  ...(
    [
      ["IN44", "localhost"],
      ["IN44", "2130706433"],
      ["IN44", "0x7f.1"],
      ["IN44", "017700000001"],
      ["IN44", "[::ffff:127.0.0.1]"],
      ["IN49", "10.5.0.1:50000"],
      ["IN49", "fe80::1%eth0"],
      ["IN49", "10.5.0.1."],
      ["IN49", "１０.5.0.1"],
      ["IN49", "m\u0430chine.example.com"],
    ] as const
  ).map(([id, address]) => ({
    name: `${id}: the machine address ${address}`,
    cluster: demoCluster([address]),
    reason: "Invalid",
    says: /spec\.controlPlane\.metalSpec\.machines\[0\]\.address/,
  })),
  ...(["v1.13", "1.13.9", "v1.13.9-rc.0; rm -rf", "latest"] as const).map((version) => ({
    name: `IN39: the Talos version ${version}`,
    cluster: demoCluster(one, [], { version }),
    reason: "Invalid",
    says: /spec\.controlPlane\.version/,
  })),
  ...(
    [
      [{ version: "v0.14.0" }, /spec\.controlPlane\.version.*v0\.14\.0.*Use a version from/],
      [{ version: "v1.15.0" }, /spec\.controlPlane\.version.*v1\.15\.0.*Use a version from/],
      [{ kubeVersion: "v9.0.0" }, /spec\.controlPlane\.kubeVersion.*too new.*Choose/],
      [{ kubeVersion: "v1.29.0" }, /spec\.controlPlane\.kubeVersion.*too old.*Choose/],
    ] as const
  ).map(([over, says]) => ({
    name: `IN40: the versions ${JSON.stringify(over)}`,
    cluster: demoCluster(one, [], over),
    reason: "VersionUnsupported",
    says,
  })),
  ...(["container", "cloud"] as const).map((mode) => ({
    name: `mode ${mode}`,
    cluster: demoCluster(one, [], { mode, replicas: 3 }),
    reason: "ModeNotSupported",
    says: /spec\.controlPlane\.mode.*Use metal/,
  })),
  ...(
    [
      ["machine.ca", { machine: { ca: { crt: "YQ==", key: "YQ==" } } }],
      ["machine.token", { machine: { token: "aaaaaa.bbbbbbbbbbbbbbbb" } }],
      ["cluster.id", { cluster: { id: "bbbb" } }],
      ["cluster.secret", { cluster: { secret: "bbbb" } }],
      ["cluster.ca", { cluster: { ca: { crt: "YQ==", key: "YQ==" } } }],
      ["cluster.ca", { cluster: { ca: { key: "YQ==" } } }],
      ["cluster.aggregatorCA", { cluster: { aggregatorCA: { crt: "YQ==", key: "YQ==" } } }],
      ["cluster.aggregatorCA", { cluster: { aggregatorCA: { key: "YQ==" } } }],
      ["cluster.etcd.ca", { cluster: { etcd: { ca: { crt: "YQ==", key: "YQ==" } } } }],
      ["cluster.etcd.ca", { cluster: { etcd: { ca: { key: "YQ==" } } } }],
      ["cluster.serviceAccount.key", { cluster: { serviceAccount: { key: "YQ==" } } }],
      ["cluster.secretboxEncryptionSecret", { cluster: { secretboxEncryptionSecret: "YQ==" } }],
      ["machine.type", { machine: { type: "worker" } }],
      ["cluster.controlPlane.endpoint", { cluster: { controlPlane: { endpoint: "https://10.9.9.9:6443" } } }],
    ] as const
  ).map(([field, patch]) => ({
    name: `${field === "machine.type" ? "IN34" : field.endsWith("endpoint") ? "IN35" : "IN33"}: a patch that changes ${field}`,
    cluster: demoCluster([], [], machines(one, { installDisk: "/dev/sda", configPatches: [patch] })),
    reason: "InvalidConfig",
    says: new RegExp(`spec\\.controlPlane\\.metalSpec.*${field.replaceAll(".", "\\.")}`),
  })),
  {
    name: "IN35: a patch that takes the pod network to where the machines are",
    cluster: demoCluster(
      [],
      [],
      machines(one, { installDisk: "/dev/sda", configPatches: [{ cluster: { network: { podSubnets: ["10.5.0.0/16"] } } }] }),
    ),
    reason: "AddressInClusterRange",
    says: /10\.5\.0\.0\/16/,
  },
  ...(
    [
      ["remove of a missing path", [{ op: "remove", path: "/machine/nothing" }], /JSON_PATCH.*\/machine\/nothing/],
      ["a test that fails", [{ op: "test", path: "/machine/type", value: "worker" }], /JSON_PATCH.*\/machine\/type/],
      ["an operation that is none", [{ op: "smuggle", path: "/machine/type" }], /JSON_PATCH/],
    ] as const
  ).map(([what, configPatches, says]) => ({
    name: `IN36: ${what} among RFC 6902 operations`,
    cluster: demoCluster([], [], {
      version: "v1.11.6",
      kubeVersion: "v1.33.0",
      ...machines(one, { installDisk: "/dev/sda", configPatches }),
    }),
    reason: "InvalidConfig",
    says,
  })),
  {
    name: "B049: RFC 6902 operations where the config has several documents",
    cluster: demoCluster(
      [],
      [],
      machines(one, { installDisk: "/dev/sda", configPatches: [{ op: "add", path: "/machine/sysctls", value: { a: "b" } }] }),
    ),
    reason: "InvalidConfig",
    says: /JSON_PATCH_MULTI_DOCUMENT.*strategic merge/,
  },
  ...["ghcr.io/siderolabs/installer:latest", "installer", "ghcr.io/a b:v1", "ghcr.io/a$(reboot):v1", `ghcr.io/${"a".repeat(10_240)}`].map(
    (image) => ({
      name: `IN38: the image ${image.slice(0, 40)}`,
      cluster: demoCluster([], [], machines(one, { installDisk: "/dev/sda", image })),
      reason: "InvalidConfig",
      says: /spec\.controlPlane\.metalSpec\.machineSpec\.image/,
    }),
  ),
  {
    name: "IN26: a patch nested deeper than configs are",
    cluster: demoCluster([], [], machines(one, { installDisk: "/dev/sda", configPatches: [nested(200)] })),
    reason: "Invalid",
    says: /deeper than 64 levels; flatten it/,
  },
  {
    name: "IN27: more than a mebibyte of patches",
    cluster: demoCluster(
      [],
      [],
      machines(one, { installDisk: "/dev/sda", configPatches: [{ machine: { nodeAnnotations: { a: "x".repeat(1_100_000) } } }] }),
    ),
    reason: "InvalidConfig",
    says: /1 MiB.*smaller/,
  },
];

function nested(depth: number): object {
  let value: object = { a: 1 };
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return { machine: { sysctls: value } };
}

/** Applies it; what the schema refuses is an answer too. @returns the API's message, `undefined` when it was accepted */
async function refusedAtOnce(world: Story, cluster: unknown): Promise<KubeApiError | undefined> {
  try {
    await apply(world, kinds.cluster, cluster);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof KubeApiError && (thrown.code === "INVALID" || thrown.code === "BAD_REQUEST")) return thrown;
    throw thrown;
  }
}

describe("refused with field and remedy, nothing made, nothing sent, and quiet about it", () => {
  for (const { name, cluster, reason, says } of refusals)
    test(name, () =>
      tell({}, async (world) => {
        const atOnce = await refusedAtOnce(world, cluster);
        if (reason === "Invalid" || atOnce !== undefined) {
          assert.equal(reason, "Invalid", atOnce?.message);
          assert.ok(atOnce !== undefined, "the schema let it pass");
          assert.match(atOnce.message, says);
          return;
        }
        await world.start();
        await assertStoppedBy(world, kinds.cluster, { reason, says });
        assert.deepEqual(world.sent, []);
        assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
        assert.equal(await world.get(kinds.record), undefined);
      }),
    );
});
