import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosDialer } from "@talos-operator/ports";
import { withCalls } from "../world/with-calls.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";

test("a machine that does not say any more that it waits is sent no configuration, although it shows the key", () => {
  let isHeld = true;
  const lost: string[] = [];
  const dialer = (real: TalosDialer): TalosDialer =>
    withCalls(real, ({ channel, address, credentials }) => ({
      unary: async (method, request, options) => {
        // Effects demand the key that was written down; looks take any.
        const isEffect = credentials.kind === "maintenance" && credentials.expectedSpki !== undefined;
        if (isHeld && isEffect && method.path.endsWith("/Get")) {
          lost.push(address);
          // The connection is there, and the key was seen on it.
          await channel.unary(method, request, options);
          throw Object.assign(new Error("not found"), { name: "TalosCallFailure" as const, code: 5 });
        }
        return channel.unary(method, request, options);
      },
    }));
  return tell({ dialer }, async (world) => {
    await apply(world, kinds.cluster, demoCluster(["10.5.0.1"]));
    await world.start();
    await world.until("about to be sent", async () => Promise.resolve(lost.length > 0));
    await world.time.advance(60_000);
    assert.deepEqual(world.sent, []);
    isHeld = false;
    await world.untilReady();
  });
});

test("a machine that booted between the decision and the send is not booted again", () => {
  let isArmed = false;
  let liedAt: number | undefined;
  const bootedAt: number[] = [];
  let isOpen = async (): Promise<boolean> => Promise.resolve(false);
  let now = (): number => 0;
  const dialer = (real: TalosDialer): TalosDialer =>
    withCalls(real, ({ channel }) => ({
      unary: async (method, request, options) => {
        if (method.path.endsWith("/Reboot")) bootedAt.push(now());
        return channel.unary(method, request, options);
      },
      async *serverStream(method, request, options) {
        const isLie = isArmed && liedAt === undefined && method.path.endsWith("/Read") && (await isOpen());
        if (isLie) liedAt = now();
        for await (const message of channel.serverStream(method, request, options))
          yield isLie
            ? (Object.assign(message as object, { bytes: new TextEncoder().encode("another-boot\n") }) as typeof message)
            : message;
      },
    }));
  return tell({ dialer }, async (world) => {
    now = () => world.time.now();
    isOpen = async () => {
      const spec = (await world.get(kinds.record))?.spec as { readonly openWorkerIntents?: readonly { readonly what: string }[] };
      return spec.openWorkerIntents?.some(({ what }) => what === "Reboot") === true;
    };
    await apply(world, kinds.cluster, demoCluster(["10.5.0.1"], ["10.5.0.2"]));
    await world.start();
    await world.untilReady();
    await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True");
    isArmed = true;
    await world.client.resource(kinds.cluster).patch(
      { namespace: "default", name: "demo" },
      {
        type: "merge",
        value: { spec: { worker: { metalSpec: { machineSpec: { configPatches: [{ machine: { env: { NO_PROXY: "example.org" } } }] } } } } },
      },
    );
    await world.time.advance(400_000);
    assert.ok(liedAt !== undefined, "nobody asked for the boot id before the send");
    for (const at of bootedAt) assert.ok(at > liedAt, "it was booted although it showed another boot");
  });
});
