import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeTransport, TalosDialer } from "@talos-operator/ports";
import { withUnary } from "../world/with-calls.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];

interface Intent {
  readonly what: string;
  readonly machine: { readonly name: string; readonly address: string };
}

interface Record {
  readonly metadata: { readonly name: string };
  readonly spec: {
    openControlPlaneIntent?: Intent;
    openWorkerIntents?: readonly Intent[];
    readonly decisions?: readonly { readonly reason: string }[];
  };
}

const recordOf = (world: Story): Promise<Record> => world.client.resource<Record>(kinds.record).get(demo);

/** Calls `before` ahead of every call that a machine gets. */
function hooked(real: TalosDialer, before: (address: string, method: string) => Promise<void>): TalosDialer {
  return withUnary(real, ({ address, channel }) => async (method, request, options) => {
    await before(address, method.path.slice(method.path.lastIndexOf("/") + 1));
    return channel.unary(method, request, options);
  });
}

/** Fails what `fails` names, as a server does that is too busy. */
function busy(real: KubeTransport, fails: (method: string, path: string, isBefore: boolean) => boolean): KubeTransport {
  const answer = { status: 503, headers: {}, body: { kind: "Status", apiVersion: "v1", status: "Failure", code: 503, message: "busy" } };
  return {
    ...real,
    send: async (request, options) => {
      if (fails(request.method, request.path, true)) return answer;
      const given = await real.send(request, options);
      return fails(request.method, request.path, false) ? answer : given;
    },
    watch: (request, options) => real.watch(request, options),
    close: () => real.close(),
  };
}

/** Until the cluster is Ready and what it runs was read. */
async function settle(world: Story): Promise<void> {
  await apply(world, kinds.cluster, demoCluster(cps, ["10.5.0.4"]));
  await world.start();
  await world.untilReady();
  await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True");
  await world.time.advance(5_000);
}

async function patchPool(world: Story, pool: "worker" | "controlPlane", patch: object): Promise<void> {
  const spec = { [pool]: { metalSpec: { machineSpec: { configPatches: [patch] } } } };
  await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
}

/**
 * A settled cluster, whose settings are then changed. Once, at the first call to a machine on which the wanted effect is open and not yet sent, `meanwhile`
 * happens: between the decision and the send.
 */
async function between(
  given: {
    readonly what: "ApplyConfig" | "Reboot";
    readonly pool: "worker" | "controlPlane";
    readonly patch: object;
    readonly seconds: number;
  },
  meanwhile: (world: Story, address: string) => Promise<void>,
  check: (world: Story, sent: readonly string[], unbacked: readonly string[]) => Promise<void> | void,
): Promise<void> {
  let world: Story | undefined;
  let isArmed = false;
  const unbacked: string[] = [];
  const before = async (address: string, method: string): Promise<void> => {
    if (world === undefined || !isArmed) return;
    const { spec } = await recordOf(world);
    const open = [spec.openControlPlaneIntent, ...(spec.openWorkerIntents ?? [])].find((intent) => intent?.machine.address === address);
    if ((method === "ApplyConfiguration" || method === "Reboot") && open === undefined) unbacked.push(`${method} ${address}`);
    if (open?.what !== given.what || hasHappened) return;
    hasHappened = true;
    await meanwhile(world, address);
  };
  let hasHappened = false;
  await tell({ dialer: (real) => hooked(real, before) }, async (told) => {
    await settle(told);
    world = told;
    isArmed = true;
    const sent = told.sent.length;
    await patchPool(told, given.pool, given.patch);
    await told.time.advance(given.seconds * 1_000);
    assert.ok(hasHappened, "nothing was about to be sent");
    isArmed = false;
    await check(told, told.sent.slice(sent), unbacked);
  });
}

const label = { machine: { nodeLabels: { "example.org/rack": "r1" } } };
const needsBoot = { machine: { env: { NO_PROXY: "example.org" } } };

/** As another process would that took over. */
async function closeIntent(world: Story): Promise<void> {
  const { openControlPlaneIntent: _one, openWorkerIntents: _many, ...spec } = (await recordOf(world)).spec;
  await world.client.resource<Record>(kinds.record).update({ ...(await recordOf(world)), spec });
}

describe("between the decision and the send", () => {
  for (const what of ["ApplyConfig", "Reboot"] as const)
    test(`an intent that is gone from the record: ${what} is not sent`, () =>
      between(
        { what, pool: "worker", patch: what === "Reboot" ? needsBoot : label, seconds: 400 },
        closeIntent,
        (_world, sent, unbacked) => {
          assert.deepEqual(unbacked, []);
          assert.ok(sent.length > 0, "it went on under another intent");
        },
      ));

  test("another configuration on the machine: nothing is sent on the old reading", () =>
    between(
      { what: "ApplyConfig", pool: "worker", patch: label, seconds: 60 },
      async (world, address) => {
        const cell = world.datacenter.machine(address) as unknown as { dispatch(input: object): void };
        const { active = "" } = world.datacenter.machine(address).state.config;
        cell.dispatch({ kind: "apply", text: `# by hand\n${active}`, how: "live", tryMs: 0 });
        return Promise.resolve();
      },
      async (world) => {
        const { decisions = [] } = (await recordOf(world)).spec;
        assert.ok(
          decisions.some(({ reason }) => reason === "HeldBack"),
          JSON.stringify(decisions.slice(-4)),
        );
      },
    ));

  for (const what of ["ApplyConfig", "Reboot"] as const)
    test(`another control plane that is gone: ${what} is not sent`, () =>
      between(
        { what, pool: "controlPlane", patch: what === "Reboot" ? needsBoot : label, seconds: 90 },
        async (world, address) => world.datacenter.machine(cps.find((one) => one !== address) ?? "").setConnected(false),
        (_world, sent) => {
          const call = what === "Reboot" ? "Reboot" : "ApplyConfiguration";
          assert.deepEqual(
            sent.filter((one) => one.startsWith(call)),
            [],
          );
        },
      ));

  test("a machine that has booted: it is not booted a second time", () =>
    between(
      { what: "Reboot", pool: "worker", patch: needsBoot, seconds: 120 },
      async (world, address) => {
        world.datacenter.machine(address).powerCycle();
        await world.until("back", async () => world.datacenter.machine(address).state.stage === "running");
      },
      (world, sent) => {
        assert.deepEqual(sent, ["ApplyConfiguration 10.5.0.4"]);
        assert.match(world.datacenter.machine("10.5.0.4").state.config.active ?? "", /NO_PROXY/);
      },
    ));

  for (const [when, isBefore] of [
    ["is read before the send", true],
    ["was written with the intent", false],
  ] as const)
    test(`the API fails while the record ${when}: nothing was sent, so nothing is waited for`, async () => {
      let failsUntil = 0;
      let isArmed = false;
      let now = (): number => 0;
      const fails = (method: string, path: string, before: boolean): boolean => {
        if (!path.includes("/clusterrecords") || before !== isBefore || method !== (isBefore ? "GET" : "PATCH")) return false;
        if (isArmed && !isBefore) {
          isArmed = false;
          return true;
        }
        return now() < failsUntil;
      };
      await tell({ kube: (real) => busy(real, fails) }, async (world) => {
        now = () => world.time.now();
        await settle(world);
        isArmed = true;
        if (isBefore) failsUntil = world.time.now() + 20_000;
        await patchPool(world, "worker", label);
        await world.time.advance(80_000);
        assert.deepEqual(world.sent.slice(-2), ["ApplyConfiguration 10.5.0.4", "ApplyConfiguration 10.5.0.4"]);
        const { config } = world.datacenter.machine("10.5.0.4").state;
        assert.match(config.persisted ?? "", /example\.org\/rack/);
      });
    });
});
