// What stories of upgrades begin with: a cluster that is ready, and another Talos that is asked for.
import { demoCluster, kinds } from "./story.ts";
import { apply } from "./quiet.ts";
import type { Condition, TalosCluster } from "@talos-operator/api";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
/** Three voters, and a worker behind them: every further machine costs a story as much as one of these, and is listed where its number is what is told. */
export const cps: readonly string[] = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
export const workers: readonly string[] = ["10.5.0.4"];
export const all: readonly string[] = [...cps, ...workers];

/** Starts the operator and waits until the cluster is ready; how many calls were sent until then. */
export async function ready(world: Story, cluster: TalosCluster = demoCluster(cps, workers)): Promise<number> {
  await apply(world, kinds.cluster, cluster);
  await world.start();
  await world.untilReady();
  return world.sent.length;
}

export const edit = (world: Story, spec: object): Promise<unknown> =>
  world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });

/** What a person asks for. `null` takes the image away. */
interface Asked {
  readonly version?: string;
  readonly image?: string | null;
}

/** Asks for a version, or for an image, or both. */
export const ask = (world: Story, asked: string | Asked, pools: readonly string[] = ["controlPlane", "worker"]): Promise<unknown> => {
  const { version, image } = typeof asked === "string" ? { version: asked } : { image: undefined, ...asked };
  const change = {
    ...(version === undefined ? {} : { version }),
    ...(image === undefined ? {} : { metalSpec: { machineSpec: { image } } }),
  };
  return edit(world, Object.fromEntries(pools.map((pool) => [pool, change])));
};

export const versionAt = (world: Story, address: string): string => world.datacenter.machine(address).state.hardware.talosVersion;

/** The versions that run, each once. */
export const versions = (world: Story, addresses = all): readonly string[] => [
  ...new Set(addresses.map((address) => versionAt(world, address))),
];

export const pending = (world: Story): Promise<Condition | undefined> => world.condition(kinds.controlPlane, "UpgradePending");

/** The run was ended by a Talos that failed. */
export const failed = (world: Story): Promise<void> =>
  world.until("stopped", async () => (await pending(world))?.reason === "VersionFailed", 3_600);

/** Nothing is left to do. */
export const settled = (world: Story): Promise<void> =>
  world.until("settled", async () => (await world.condition(kinds.controlPlane, "Progressing"))?.reason === "Settled", 1_800);

/** Every machine runs the version, and nothing is left to do. */
export async function upgraded(world: Story, version: string, addresses = all, seconds = 3_600): Promise<void> {
  await world.until(`all run ${version}`, async () => versions(world, addresses).join() === version, seconds);
  await settled(world);
}

/** What an upgrade of one machine sends, leadership apart. */
export const once = (address: string): readonly string[] => [`Pull ${address}`, `Upgrade ${address}`, `Reboot ${address}`];
export const withoutLeadership = (calls: readonly string[]): readonly string[] => calls.filter((call) => !call.startsWith("EtcdForfeit"));

/** Addresses that got this call since, in order. */
export const sentTo = (world: Story, sent: number, call: string): readonly string[] =>
  world.sent.slice(sent).flatMap((one) => (one.startsWith(`${call} `) ? [one.slice(call.length + 1)] : []));

/** An operator that dies over and over, and another one after it each time. */
export async function killed(world: Story, everyMs: number, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await world.time.advance(everyMs);
    await world.kill();
    await world.start();
  }
}
