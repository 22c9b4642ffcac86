import assert from "node:assert/strict";
import { test } from "node:test";
import { generateMachineConfig, patchMachineConfig } from "@talos-operator/talos";
import { ConfigText, resourceKinds } from "@talos-operator/talos/client";
import type { TalosClient } from "@talos-operator/talos/client";
import { noSecrets } from "../../config/no-secrets.ts";
import { isEffectError } from "../../errors.ts";
import { readConfig } from "./read-config.ts";
import type { ConfigQuestion } from "./read-config.ts";

const live = generateMachineConfig({
  role: "worker",
  clusterName: "demo",
  endpoint: "https://10.0.0.100:6443",
  contract: "1.13",
  kubernetesVersion: "v1.36.3",
  secrets: noSecrets,
  install: { disk: "/dev/sda", image: "ghcr.io/siderolabs/installer:v1.13.9" },
});

/** A machine that shows this UUID, META and boot id, and runs `live`. */
function client(uuid: string, meta?: string, bootId = "boot-1\n"): TalosClient {
  const get = async (kind: unknown): Promise<unknown> => {
    if (kind === resourceKinds.systemInformation) return { spec: { uuid } };
    if (kind === resourceKinds.metaKey) return meta === undefined ? undefined : { spec: { value: meta } };
    return { spec: new ConfigText(live) };
  };
  return { resources: { get }, bootId: async () => bootId } as unknown as TalosClient;
}

const question: ConfigQuestion = {
  machine: "demo-10.0.0.1",
  address: "10.0.0.1",
  uuid: "uuid-1",
  settings: "settings",
  contract: "1.13",
  addresses: new Set(["10.0.0.1", "10.0.0.100"]),
  input: {
    role: "worker",
    clusterName: "demo",
    endpoint: "https://10.0.0.100:6443",
    controlPlane: { mode: "metal", version: "v1.13.9", kubeVersion: "v1.36.3" },
    machineSpec: {},
    version: "v1.13.9",
    platform: "metal",
    installDisk: "/dev/sda",
    addresses: ["10.0.0.1"],
  },
};
const read = (machine: TalosClient, over: Partial<ConfigQuestion> = {}): ReturnType<typeof readConfig> =>
  readConfig(machine, { ...question, ...over }, noSecrets, () => 1, { timeoutMs: 1_000 });

test("the configuration of another machine at the address is not taken for this machine's", async () => {
  await assert.rejects(read(client("uuid-2")), (thrown) => isEffectError(thrown, "PRECONDITION_GONE"));
  const { seen } = await read(client("uuid-1"));
  assert.deepEqual([seen.bootId, seen.changes, seen.onDisk, seen.meta], ["boot-1", [], "wanted", undefined]);
});

for (const bootId of ["", "b".repeat(65)])
  test(`a boot id of ${bootId.length} characters, which no record takes, binds nothing: nothing is decided on it`, async () => {
    await assert.rejects(read(client("uuid-1", undefined, bootId)), (thrown) => isEffectError(thrown, "PRECONDITION_GONE"));
  });

test("what is on the disk and in force alike is no third configuration, though another one is wanted", async () => {
  const other = { input: { ...question.input, machineSpec: { hostname: "other" } } };
  const { seen } = await read(client("uuid-1"), other);
  assert.deepEqual([seen.changes.length > 0, seen.onDisk], [true, "active"]);
});

/** A machine that GRUB or a UKI started without `quiet`, or that tells neither. */
function started(by: "grub" | "uki" | "unreported"): TalosClient {
  const machine = client("uuid-1");
  const get = async (kind: unknown, ...rest: readonly unknown[]): Promise<unknown> => {
    if (kind === resourceKinds.securityState)
      return by === "unreported" ? undefined : { spec: { isSecureBoot: false, isBootedWithUki: by === "uki" } };
    if (kind === resourceKinds.kernelCmdline) return { spec: { cmdline: "talos.platform=metal" } };
    return machine.resources.get(kind as never, ...(rest as []));
  };
  return { ...machine, resources: { get, list: async () => [] } } as unknown as TalosClient;
}

for (const [by, says] of [
  ["grub", undefined],
  ["uki", /^it starts from a UKI, .*customization\.extraKernelArgs/],
  ["unreported", /^it does not report by which boot loader/],
] as const)
  test(`kernel arguments of the settings are sent to a machine that GRUB starts, and left out of what is sent to others: ${by}`, async () => {
    const install = { extraKernelArgs: ["quiet"], grubUseUKICmdline: false };
    const rest = { sysctls: { "net.core.somaxconn": "4096" } };
    const { seen, wanted } = await read(started(by), {
      input: { ...question.input, machineSpec: { configPatches: [{ machine: { install, ...rest } }] } },
    });
    const isSent = says === undefined;
    assert.ok(seen.changes.some(({ path }) => path.startsWith("machine.sysctls")));
    assert.deepEqual([seen.changes.some(({ path }) => path.startsWith("machine.install.")), wanted.includes("quiet")], [isSent, isSent]);
    assert.ok(seen.changes.every(({ effect }) => effect === "live"));
    const [part, ...others] = seen.withheld ?? [];
    assert.deepEqual([part === undefined, others], [isSent, []]);
    const left = part !== undefined && "changes" in part ? part.changes : [];
    for (const { path, reason } of left)
      assert.match(`${path} ${reason}`, new RegExp(`^machine\\.install\\.extraKernelArgs\\S* ${says?.source.slice(1) ?? ""}`));
  });

test("a machine that a UKI starts may lose kernel arguments from its configuration: they did nothing", async () => {
  const machine = started("uki");
  const named = {
    ...machine,
    resources: {
      ...machine.resources,
      get: async (kind: unknown, ...more: readonly unknown[]) => {
        if (kind !== resourceKinds.machineConfig) return machine.resources.get(kind as never, ...(more as []));
        return {
          spec: new ConfigText(
            patchMachineConfig(live, [JSON.stringify({ machine: { install: { extraKernelArgs: ["quiet"], grubUseUKICmdline: false } } })]),
          ),
        };
      },
    },
  } as unknown as TalosClient;
  const { seen } = await read(named);
  assert.deepEqual(
    [seen.withheld, seen.changes.length > 0, seen.changes.every(({ effect }) => effect === "live")],
    [undefined, true, true],
  );
});

test("META is read where it is of interest, and compared by hash", async () => {
  const wanted = { text: "a", hash: "hash-of-a" };
  assert.equal((await read(client("uuid-1", "b"), { meta: wanted })).seen.meta?.wanted, "hash-of-a");
  assert.equal((await read(client("uuid-1"), { meta: wanted })).seen.meta?.live, "none");
});
