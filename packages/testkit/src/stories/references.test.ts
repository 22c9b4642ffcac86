import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeTransport, KubeWatchEvent } from "@talos-operator/ports";
import { cluster, host, hostType, install, reference } from "./hosts.ts";
import { apply, assertStoppedBy } from "./quiet.ts";
import { kinds, tell } from "./story.ts";
import type { Conditioned, Story } from "./story.ts";

/** Names of TalosMachines by the hosts they are found by. */
const machineOf = (host: string): string => `demo-${host}`;

const addressReason = async (world: Story, name: string): Promise<string | undefined> =>
  (await world.condition(kinds.machine, "AddressResolved", machineOf(name)))?.reason;

const recorded = async (world: Story, name: string): Promise<string | undefined> => {
  const record = (await world.get(kinds.record)) as Conditioned & {
    readonly spec?: Readonly<
      Record<"knownControlPlanes" | "knownWorkers", readonly { readonly name: string; readonly address: string }[] | undefined>
    >;
  };
  const known = [...(record.spec?.knownControlPlanes ?? []), ...(record.spec?.knownWorkers ?? [])];
  return known.find((machine) => machine.name === machineOf(name))?.address;
};

/** Watches of TalosMachines tell nothing once they are held; counts how often one of these objects is written meanwhile. */
function watchThatStops(): { readonly kube: (real: KubeTransport) => KubeTransport; hold(): void; goOn(): void; writes(): number } {
  let held: PromiseWithResolvers<void> | undefined;
  let writes = 0;
  async function* lagging(events: AsyncIterable<KubeWatchEvent>): AsyncIterable<KubeWatchEvent> {
    for await (const event of events) {
      await held?.promise;
      yield event;
    }
  }
  return {
    hold: () => void (held = Promise.withResolvers()),
    goOn: () => held?.resolve(),
    writes: () => writes,
    kube: (real) => ({
      ...real,
      async send(request, options) {
        if (held !== undefined && request.method === "PATCH" && /\/talosmachines\/[^/]+$/.test(request.path)) writes += 1;
        // Virtual time would stand still for ever.
        if (writes > 500) held?.resolve();
        return real.send(request, options);
      },
      async watch(request, options) {
        const answer = await real.watch(request, options);
        return request.path.endsWith("/talosmachines") ? { ...answer, events: lagging(answer.events) } : answer;
      },
    }),
  };
}

describe("machines that are found by reference", () => {
  test("become a cluster, named after the objects and not after their addresses", () =>
    tell({}, async (world) => {
      await install(world);
      for (const [name, address] of [
        ["cp-a", "10.5.0.1"],
        ["cp-b", "10.5.0.2"],
        ["cp-c", "10.5.0.3"],
        ["worker-a", "10.5.0.4"],
      ] as const)
        await host(world, name, address);
      await apply(
        world,
        kinds.cluster,
        cluster(
          ["cp-a", "cp-b", "cp-c"].map((name) => reference(name)),
          [reference("worker-a")],
        ),
      );
      await world.start();
      await world.untilReady();
      const machine = await world.get(kinds.machine, "demo-cp-b");
      assert.equal(machine?.spec?.["endpoint"], "10.5.0.2");
      assert.equal((await world.condition(kinds.controlPlane, "AddressResolved"))?.reason, "Resolved");
      assert.equal(await addressReason(world, "worker-a"), "Resolved");
    }));

  test("one that has no address yet is waited for by name, the others go on, and it joins within moments of getting one", () =>
    tell({}, async (world) => {
      await install(world);
      await host(world, "cp-a", "10.5.0.1");
      await host(world, "worker-a");
      await apply(world, kinds.cluster, cluster([reference("cp-a")], [reference("worker-a")]));
      await world.start();
      await world.until("founded", async () => (await world.condition(kinds.controlPlane, "Bootstrapped"))?.status === "True");
      await world.until("said", async () => (await addressReason(world, "worker-a")) === "AddressMissing");
      assert.ok(!world.sent.some((call) => call.endsWith("10.5.0.4")));
      await host(world, "worker-a", "10.5.0.4");
      await world.untilReady(60);
      assert.equal((await world.get(kinds.machine, "demo-worker-a"))?.spec?.["endpoint"], "10.5.0.4");
    }));

  test("one in a namespace that is closed to references is not read, and the condition says how it would be", () => {
    const reads: string[] = [];
    const kube = (real: KubeTransport): KubeTransport => ({
      ...real,
      send(request, options) {
        if (request.path.includes("/hosts")) reads.push(request.path);
        return real.send(request, options);
      },
    });
    return tell({ kube, operator: { machineRefNamespaces: ["infra"] } }, async (world) => {
      await install(world);
      await host(world, "cp-a", "10.5.0.1");
      await apply(world, kinds.cluster, cluster([reference("cp-a")], [reference("worker-a", { namespace: "closed" })]));
      await world.start();
      await world.until("said", async () => (await world.condition(kinds.worker, "AddressResolved"))?.reason === "ReferenceForbidden");
      const { message = "" } = (await world.condition(kinds.worker, "AddressResolved")) ?? {};
      assert.match(message, /leads to namespace closed.*--machine-ref-namespaces/);
      await world.until("the others go on", async () => (await world.condition(kinds.controlPlane, "Bootstrapped"))?.status === "True");
      assert.ok(reads.length > 0 && reads.every((path) => !path.includes("/closed/")), reads.join());
    });
  });

  for (const [role, name] of [
    ["control plane", "cp-a"],
    ["worker", "worker-a"],
  ] as const)
    test(`a ${role}'s address is not written again without a pause while the watch of machines' objects is behind`, () => {
      const watch = watchThatStops();
      return tell({ kube: watch.kube }, async (world) => {
        await install(world);
        await host(world, "cp-a", "10.5.0.41");
        await host(world, "worker-a", "10.5.0.44");
        await apply(world, kinds.cluster, cluster([reference("cp-a")], [reference("worker-a")]));
        await world.start();
        await world.until("made", async () => (await world.get(kinds.machine, machineOf(name)))?.spec?.["endpoint"] !== undefined);
        await world.time.advance(20_000);
        watch.hold();
        try {
          await host(world, name, "10.5.0.48");
          await world.until(
            "followed",
            async () => (await world.get(kinds.machine, machineOf(name)))?.spec?.["endpoint"] === "10.5.0.48",
            60,
          );
          await world.time.advance(60_000);
          assert.ok(watch.writes() < 100, `${watch.writes()} writes in a minute`);
        } finally {
          watch.goOn();
        }
      });
    });
});

describe("a machine whose reference gives another address", () => {
  const machines = [1, 2, 3, 4, 5, 6].map((n) => ({ address: `10.5.0.${n}` }));

  async function founded(world: Story): Promise<void> {
    await install(world);
    for (const [index, name] of ["cp-a", "cp-b", "cp-c", "worker-a"].entries()) await host(world, name, `10.5.0.${index + 1}`);
    await apply(
      world,
      kinds.cluster,
      cluster(
        ["cp-a", "cp-b", "cp-c"].map((name) => reference(name)),
        [reference("worker-a")],
      ),
    );
    await world.start();
    await world.untilReady();
    await world.time.advance(5_000);
  }

  test("is followed when it proves there to be the one that was written down; the record and its TalosMachine follow, its name stays", () =>
    tell({ machines }, async (world) => {
      await founded(world);
      const sent = world.sent.length;
      // The machine keeps its address as far as the world is concerned; the new one leads to it too.
      world.reroute("10.5.0.44", "10.5.0.4");
      await host(world, "worker-a", "10.5.0.44");
      await world.until("followed", async () => (await recorded(world, "worker-a")) === "10.5.0.44", 60);
      assert.equal((await world.get(kinds.machine, machineOf("worker-a")))?.spec?.["endpoint"], "10.5.0.44");
      await world.untilReady();
      assert.equal(world.sent.length, sent);
    }));

  test("is not taken for another machine of the cluster that answers there: both stay as they were written down, and it is said", () =>
    tell({ machines }, async (world) => {
      await founded(world);
      const sent = world.sent.length;
      world.reroute("10.5.0.44", "10.5.0.2");
      world.datacenter.machine("10.5.0.4").powerOff();
      await host(world, "worker-a", "10.5.0.44");
      await assertStoppedBy(world, kinds.worker, {
        reason: "IdentityMismatch",
        says: /demo-worker-a: another machine answers at 10\.5\.0\.44: it is demo-cp-b, and [0-9a-f-]{36} was written down\. Nothing is sent/,
      });
      assert.equal(await recorded(world, "worker-a"), "10.5.0.4");
      assert.equal((await world.condition(kinds.machine, "Ready", machineOf("worker-a")))?.reason, "IdentityMismatch");
      assert.equal(world.sent.length, sent);
    }));

  test("IN61: is not configured anew where a machine waits in maintenance mode", () =>
    tell({ machines }, async (world) => {
      await founded(world);
      const sent = world.sent.length;
      await host(world, "worker-a", "10.5.0.6");
      await assertStoppedBy(world, kinds.worker, {
        reason: "MaintenanceUnexpected",
        says: /demo-worker-a: the machine at 10\.5\.0\.6 was configured/,
      });
      assert.equal(await recorded(world, "worker-a"), "10.5.0.4");
      assert.equal(world.sent.length, sent);
    }));

  test("goes on where it always was while its reference leads nowhere, is not taken for removed, and says so", () =>
    tell({ machines }, async (world) => {
      await founded(world);
      const sent = world.sent.length;
      await world.client.resource(hostType).delete({ namespace: "default", name: "cp-b" });
      await world.until("said", async () => (await addressReason(world, "cp-b")) === "ReferenceNotFound", 60);
      assert.match((await world.condition(kinds.controlPlane, "AddressResolved"))?.message ?? "", /Host\/cp-b .*does not exist.*Create it/);
      await world.time.advance(180_000);
      assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
      assert.equal(world.sent.length, sent);
      await host(world, "cp-b", "10.5.0.2");
      await world.until("resolved", async () => (await addressReason(world, "cp-b")) === "Resolved", 60);
    }));

  test("IN54: two that swap their addresses are told apart, and neither is touched", () =>
    tell({ machines }, async (world) => {
      await founded(world);
      const sent = world.sent.length;
      world.reroute("10.5.0.2", "10.5.0.3");
      world.reroute("10.5.0.3", "10.5.0.2");
      await world.until(
        "said",
        async () => (await world.condition(kinds.machine, "Ready", machineOf("cp-b")))?.reason === "IdentityMismatch",
        120,
      );
      assert.match(
        (await world.condition(kinds.machine, "Ready", machineOf("cp-c")))?.message ?? "",
        /another machine answers at 10\.5\.0\.3: it is demo-cp-b/,
      );
      await world.time.advance(120_000);
      assert.equal(world.sent.length, sent);
      world.reroute("10.5.0.2", undefined);
      world.reroute("10.5.0.3", undefined);
      await world.untilReady();
      assert.equal(world.sent.length, sent);
    }));
});

describe("a reference that gives nothing to connect to", () => {
  const cases: readonly {
    readonly name: string;
    readonly machineRef: Record<string, unknown>;
    readonly reason: string;
    readonly says: RegExp;
  }[] = [
    {
      name: "to an object that is not there",
      machineRef: {},
      reason: "ReferenceNotFound",
      says: /Host\/absent in namespace default, which does not exist/,
    },
    {
      name: "to a kind that is not served",
      machineRef: { kind: "Ghost" },
      reason: "ReferenceNotFound",
      says: /kind Ghost .*Install its CRD/,
    },
    {
      name: "IN7: to a Secret",
      machineRef: { apiVersion: "v1", kind: "Secret" },
      reason: "ReferenceInvalid",
      says: /Secret, which is never read/,
    },
    { name: "with a broken path", machineRef: { fieldPath: ".status[" }, reason: "ReferenceInvalid", says: /fieldPath .* cannot be read/ },
  ];
  for (const { name, machineRef, reason, says } of cases)
    test(`${name}: said of that machine, while the cluster is made of the others`, () =>
      tell({}, async (world) => {
        await install(world);
        await apply(world, kinds.cluster, cluster([{ address: "10.5.0.1" }], [reference("absent", machineRef)]));
        await world.start();
        await world.until("founded", async () => (await world.condition(kinds.controlPlane, "Bootstrapped"))?.status === "True");
        await world.until("said", async () => (await addressReason(world, "absent")) === reason);
        await world.until("said of the pool", async () => (await world.condition(kinds.worker, "AddressResolved")) !== undefined);
        assert.match((await world.condition(kinds.worker, "AddressResolved"))?.message ?? "", says);
        assert.deepEqual(
          world.sent.filter((call) => !call.endsWith("10.5.0.1")),
          [],
        );
      }));

  const refused: readonly (readonly [name: string, address: string, reason: string])[] = [
    ["IN44: loopback", "127.0.0.1", "AddressRefused"],
    ["IN45: a metadata service", "169.254.169.254", "AddressRefused"],
    ["IN46: the network of services", "10.96.0.7", "AddressRefused"],
    ["IN49: an address in disguise", "0x0a050004", "AddressNotUsable"],
  ];
  for (const [name, address, reason] of refused)
    test(`${name}: nobody is asked there`, () =>
      tell({}, async (world) => {
        await install(world);
        await host(world, "worker-a", address);
        await apply(world, kinds.cluster, cluster([{ address: "10.5.0.1" }], [reference("worker-a")]));
        await world.start();
        await world.until("said", async () => (await addressReason(world, "worker-a")) === reason);
      }));

  test("two references of one name in a pool are refused before anything is made", () =>
    tell({}, async (world) => {
      await install(world);
      await host(world, "cp-a", "10.5.0.1");
      const machines = [reference("cp-a"), reference("cp-a", { kind: "Other" }), reference("cp-c")];
      await apply(world, kinds.cluster, cluster(machines));
      await world.start();
      await assertStoppedBy(world, kinds.cluster, {
        reason: "NameConflict",
        says: /machines\[1\]\.machineRef\.name: "cp-a" is named by entry 0 too/,
      });
      assert.deepEqual(world.sent, []);
    }));

  test("IN54: the address of an older cluster's machine is not taken, whoever names it how", () =>
    tell({}, async (world) => {
      await install(world);
      await apply(world, kinds.cluster, cluster([{ address: "10.5.0.1" }]));
      await world.start();
      await world.untilReady();
      await world.time.advance(2_000);
      await host(world, "stolen", "10.5.0.1");
      const { spec } = cluster([reference("stolen")]) as { readonly spec: { readonly controlPlane: object } };
      const own = { ...spec, controlPlane: { ...spec.controlPlane, endpoint: "https://10.5.0.200:6443" } };
      await apply(world, kinds.cluster, {
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosCluster",
        spec: own,
        metadata: { namespace: "default", name: "thief" },
      });
      await world.until("said", async () => (await world.condition(kinds.machine, "Ready", "thief-stolen"))?.reason === "DuplicateAddress");
      await world.time.advance(60_000);
      assert.equal(world.sent.filter((call) => call.startsWith("ApplyConfiguration")).length, 1);
    }));

  test("IN54: an address that an older cluster's machine has by reference is not taken by whoever names the address itself, as long as it has it", () =>
    tell({}, async (world) => {
      await install(world);
      // The older one waits for its control plane, so its worker is sent nothing yet.
      await host(world, "worker-a", "10.5.0.2");
      await apply(world, kinds.cluster, cluster([reference("absent")], [reference("worker-a")]));
      await world.start();
      await world.until("found", async () => (await addressReason(world, "worker-a")) === "Resolved");
      await world.time.advance(2_000);
      const { spec } = cluster([{ address: "10.5.0.2" }]) as { readonly spec: { readonly controlPlane: object } };
      await apply(world, kinds.cluster, {
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosCluster",
        spec: { ...spec, controlPlane: { ...spec.controlPlane, endpoint: "https://10.5.0.200:6443" } },
        metadata: { namespace: "default", name: "thief" },
      });
      const ready = async () => world.condition(kinds.controlPlane, "Ready", "thief");
      await world.until("said", async () => (await ready())?.reason === "DuplicateAddress");
      assert.match((await ready())?.message ?? "", /"10\.5\.0\.2" is also at TalosMachine default\/demo-worker-a/);
      await world.time.advance(60_000);
      assert.deepEqual(world.sent, []);
    }));
});
