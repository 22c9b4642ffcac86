import { generateMachineConfig, generateSecretsBundle } from "@talos-operator/talos";
import type { MachineConfigInput, SecretsBundle } from "@talos-operator/talos";
import type { TalosClient } from "@talos-operator/talos/client";
import { createTalosClient } from "@talos-operator/talos/client";
import type { Keys, TalosChannel, TalosCredentials } from "@talos-operator/ports";
import { createDatacenter } from "../datacenter/datacenter.ts";
import type { Datacenter, DatacenterOptions } from "../datacenter/types.ts";
import type { MachineSpec } from "../node/hardware.ts";
import { instantTimings } from "../node/timings.ts";
import { createSeededRandom } from "./seeded-random.ts";
import { createTokenKeys } from "./token-keys.ts";
import { VirtualTime } from "./virtual-time.ts";

/** A datacenter in virtual time with one cluster's secrets, for tests. */
export interface TestWorld {
  readonly time: VirtualTime;
  readonly keys: Keys;
  readonly datacenter: Datacenter;
  readonly secrets: SecretsBundle;
  config(role: "controlplane" | "worker", change?: Partial<MachineConfigInput>): string;
  /** A client that presents a certificate with this role; `undefined` = maintenance. */
  client(address: string, role?: string): Promise<TalosClient>;
  /** The same as a channel, for calls that the client does not have. */
  channel(address: string, role?: string): Promise<TalosChannel>;
  credentials(role: string): Promise<TalosCredentials>;
  apply(address: string, role: "controlplane" | "worker", change?: Partial<MachineConfigInput>): Promise<void>;
}

/** Builds a world; machines have come up in maintenance mode when it resolves. */
export async function createTestWorld(machines: readonly MachineSpec[], options: Partial<DatacenterOptions> = {}): Promise<TestWorld> {
  const time = new VirtualTime();
  const keys = options.keys ?? createTokenKeys();
  const random = createSeededRandom("test");
  const datacenter = createDatacenter({ clock: time, timers: time, random, keys, timings: instantTimings, ...options, machines });
  const version = machines[0]?.talosVersion ?? "v1.13.9";
  const contract = /^v(1\.\d+)/.exec(version)?.[1] === "1.14" ? "1.14" : /^v(1\.\d+)/.exec(version)?.[1] === "1.12" ? "1.12" : "1.13";
  const secrets = await generateSecretsBundle({ contract, clock: time, random, keys });
  const config: TestWorld["config"] = (role, change = {}) =>
    generateMachineConfig({
      role,
      clusterName: "test",
      endpoint: "https://10.5.0.100:6443",
      contract,
      kubernetesVersion: "1.35.4",
      secrets,
      install: { disk: "/dev/sda", image: `ghcr.io/siderolabs/installer:${version}` },
      ...change,
    });
  const credentials: TestWorld["credentials"] = async (role) => {
    const client = await keys.signCertificate(secrets.certs.os, {
      usage: "client",
      organizations: [role],
      notBefore: time.now(),
      lifetimeMs: 3_600_000,
    });
    return { kind: "mutual", ca: secrets.certs.os.certificate, certificate: client.certificate, key: client.key };
  };
  const channel: TestWorld["channel"] = async (address, role) =>
    datacenter.dialer().dial({ address }, role === undefined ? { kind: "maintenance" } : await credentials(role));
  await time.advance(0);
  return {
    time,
    keys,
    datacenter,
    secrets,
    config,
    credentials,
    client: async (address, role) => createTalosClient(await channel(address, role)),
    channel,
    async apply(address, role, change) {
      const client = createTalosClient(datacenter.dialer().dial({ address }, { kind: "maintenance" }));
      await client.applyConfiguration({ config: config(role, change), mode: "auto" }, { timeoutMs: 5_000 });
      await time.advance(0);
    },
  };
}
