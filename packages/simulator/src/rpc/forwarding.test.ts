// Looking at machines through a control plane, as a session does.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createTalosSession, isTalosError, resourceKinds } from "@talos-operator/talos/client";
import type { TalosErrorCode, TalosSession } from "@talos-operator/talos/client";
import type { TalosCredentials } from "@talos-operator/ports";
import { createTestWorld } from "../testing/world.ts";
import type { TestWorld } from "../testing/world.ts";

const address = (n: number): string => `10.5.0.${n}`;
type Mutual = Extract<TalosCredentials, { readonly kind: "mutual" }>;

let world: TestWorld;
let session: TalosSession;
const traced: string[] = [];

/** Two control planes, two workers, one machine in maintenance mode. */
before(async () => {
  world = await createTestWorld(
    [1, 2, 3, 4, 5].map((n) => ({ address: address(n) })),
    {
      onCall: ({ phase, endpoint, machine }) => {
        if (phase === "received") traced.push(`${endpoint}>${machine}`);
      },
    },
  );
  for (const n of [1, 2]) await world.apply(address(n), "controlplane");
  for (const n of [3, 4]) await world.apply(address(n), "worker");
  await (await world.client(address(1), "os:admin")).bootstrap();
  await world.time.advance(5_000);
  session = createTalosSession({
    dialer: world.datacenter.dialer(),
    clock: world.time,
    timers: world.time,
    credentials: (await world.credentials("os:reader")) as Mutual,
    endpoints: [{ address: address(1) }, { address: address(2) }],
  });
});

async function whilePassing<T>(ms: number, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  await world.time.advance(ms);
  return work;
}

async function fails(promise: Promise<unknown>, code: TalosErrorCode, text: RegExp): Promise<void> {
  await assert.rejects(whilePassing(20_000, promise), (thrown) => {
    assert.ok(isTalosError(thrown), String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    assert.match(thrown.message, text);
    return true;
  });
}

describe("looking through a control plane", () => {
  test("shows every machine of the cluster over one connection", async () => {
    traced.length = 0;
    for (const n of [1, 2, 3, 4]) {
      const status = await session.look(address(n)).resources.get(resourceKinds.machineStatus);
      assert.equal(status?.spec.stage, "running", address(n));
    }
    assert.deepEqual(
      traced,
      [1, 2, 3, 4].map((n) => `${address(1)}>${address(n)}`),
    );
  });

  test("shows a machine that is off as unavailable, not as one with a wrong certificate", async () => {
    world.datacenter.machine(address(4)).powerOff();
    await fails(session.look(address(4)).version(), "UNAVAILABLE", /dial tcp 10\.5\.0\.4:50000: connect: no route to host/);
    assert.equal(session.endpoint(), address(1));
    world.datacenter.machine(address(4)).powerOn();
    await world.time.advance(5_000);
  });

  test("shows no machine that is not of the cluster", () =>
    fails(session.look(address(5)).version(), "UNAVAILABLE", /certificate signed by unknown authority/));

  test("ends a watch when the machine behind goes down, although the connection stands", async () => {
    const seen: string[] = [];
    const watch = (async () => {
      for await (const event of session.look(address(3)).resources.watch(resourceKinds.machineStatus)) {
        if (event.kind === "current") seen.push(event.resource.spec.stage);
      }
    })();
    watch.catch(() => undefined);
    await world.time.advance(100);
    assert.deepEqual(seen, ["running"]);
    world.datacenter.machine(address(3)).powerCycle();
    await fails(watch, "UNAVAILABLE", /EOF/);
    assert.equal(session.endpoint(), address(1));
    await world.time.advance(5_000);
  });

  test("goes on through the other control plane when the first loses power, and tells that none is left", async () => {
    world.datacenter.machine(address(1)).powerOff();
    assert.equal((await whilePassing(10_000, session.look(address(3)).version())).tag, "v1.13.9");
    assert.equal(session.endpoint(), address(2));
    world.datacenter.machine(address(2)).setConnected(false);
    await fails(session.look(address(3)).version({ timeoutMs: 15_000 }), "NO_ENDPOINT", /no control plane answers/);
  });
});
