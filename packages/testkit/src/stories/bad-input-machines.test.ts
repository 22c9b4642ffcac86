import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import { instantTimings } from "@talos-operator/simulator";
import { lying } from "./lies.ts";
import type { Lie } from "./lies.ts";
import { apply, assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];

async function ready(world: Story, cluster: unknown = demoCluster(cps)): Promise<void> {
  await apply(world, kinds.cluster, cluster);
  await world.start();
  await world.untilReady();
  await world.time.advance(5_000);
}

/** A person lists another machine in place of the third, so that its member would have to leave. */
const replaceThird = (world: Story): Promise<unknown> =>
  world.client
    .resource(kinds.cluster)
    .patch(demo, { type: "merge", value: { spec: demoCluster(["10.5.0.1", "10.5.0.2", "10.5.0.4"]).spec } });
const left = (sent: readonly string[]): readonly string[] =>
  sent.filter((call) => /^(Reset|EtcdRemoveMember|EtcdLeave|EtcdForfeit|Reboot)/.test(call));

interface Member {
  id: bigint;
  hostname: string;
  peerUrls: string[];
}
type Members = (members: Member[], machine: string) => Member[];

/** A machine's list of members, changed. */
const members =
  (change: Members): Lie =>
  async (answer, machine) => {
    const reply = (await answer()) as { messages: { members: Member[] }[] };
    for (const message of reply.messages) message.members = change(message.members, machine);
    return reply;
  };

describe("IN72: while lists of etcd's members cannot be, no member leaves, and the condition says why", () => {
  const lists: readonly { readonly name: string; readonly change: Members }[] = [
    { name: "empty", change: () => [] },
    { name: "with an id twice", change: (all) => [...all, ...all.slice(0, 1)] },
    { name: "with members without names", change: (all) => all.map((one) => ({ ...one, hostname: "" })) },
    {
      name: "with nine members",
      change: (all) => [
        ...all,
        ...Array.from({ length: 6 }, (_, index) => ({ ...(all[0] as Member), id: BigInt(1000 + index), hostname: `m${index}` })),
      ],
    },
    {
      name: "of another cluster",
      change: (all) => all.map((one, index) => ({ ...one, id: BigInt(9000 + index), hostname: `other-${index}` })),
    },
    { name: "that differ from machine to machine", change: (all, machine) => (machine === "10.5.0.2" ? all.slice(0, 2) : all) },
  ];
  for (const { name, change } of lists)
    test(name, () => {
      const lies = new Map<string, Lie>();
      return tell({ dialer: lying(lies) }, async (world) => {
        await ready(world);
        const sent = world.sent.length;
        lies.set("EtcdMemberList", members(change));
        await replaceThird(world);
        await world.until("told", async () => (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status !== "True", 120);
        await world.time.advance(300_000);
        assert.deepEqual(left(world.sent.slice(sent)), []);
        const { message } = (await world.condition(kinds.controlPlane, "Ready")) ?? { message: "" };
        assert.notEqual(message, "");
        lies.clear();
        await world.until("gone on", async () => left(world.sent.slice(sent)).length > 0, 600);
      });
    });
});

describe("IN73: while no quorum can be told, nothing is sent that could cost it", () => {
  const leaders: readonly { readonly name: string; readonly leader: (own: bigint, machine: string) => bigint }[] = [
    { name: "nobody leads", leader: () => 0n },
    { name: "each says that it leads", leader: (own) => own },
    { name: "a stranger leads", leader: () => 4711n },
  ];
  for (const { name, leader } of leaders)
    test(name, () => {
      const lies = new Map<string, Lie>();
      return tell({ dialer: lying(lies) }, async (world) => {
        await ready(world);
        const sent = world.sent.length;
        lies.set("EtcdStatus", async (answer, machine) => {
          const reply = (await answer()) as { messages: { memberStatus?: { leader: bigint; memberId: bigint } }[] };
          for (const { memberStatus } of reply.messages)
            if (memberStatus !== undefined) memberStatus.leader = leader(memberStatus.memberId, machine);
          return reply;
        });
        await replaceThird(world);
        await world.until("told", async () => (await world.condition(kinds.controlPlane, "Ready"))?.status !== "True", 120);
        await world.time.advance(300_000);
        assert.deepEqual(left(world.sent.slice(sent)), []);
      });
    });
});

test("IN74: a bootstrap that was answered and never takes place is not sent elsewhere, and the condition names its machine", () =>
  tell({ timings: { ...instantTimings, etcdStartMs: 1e12 } }, async (world) => {
    await apply(world, kinds.cluster, demoCluster(cps));
    await world.start();
    await world.until("sent", async () => world.effects.some((call) => call.startsWith("Bootstrap")), 120);
    await world.time.advance(1_800_000);
    const bootstraps = world.sent.filter((call) => call.startsWith("Bootstrap"));
    assert.equal(new Set(bootstraps).size, 1, "one machine, and no other");
    assert.equal(bootstraps.length, 1);
    const condition = await world.condition(kinds.controlPlane, "Bootstrapped");
    assert.equal(condition?.status, "False");
    assert.match(condition?.message ?? "", /demo-10\.5\.0\.1/);
  }));

describe("IN75: a reset that was answered", () => {
  const one = demoCluster(["10.5.0.1"]);
  async function goes(world: Story): Promise<void> {
    await world.client.resource(kinds.cluster).delete(demo);
    await world.until("sent", async () => world.sent.some((call) => call.startsWith("Reset")) || resets.length > 0, 120);
    await world.time.advance(1_800_000);
  }
  const resets: string[] = [];

  test("and changes nothing keeps the finalizer, says what it waits for and how to give up, and a person's word ends it", () => {
    resets.length = 0;
    const lies = new Map<string, Lie>([
      [
        "Reset",
        async (_answer, machine) => {
          resets.push(machine);
          return { messages: [{ actorId: "nobody" }] };
        },
      ],
    ]);
    return tell({ dialer: lying(lies) }, async (world) => {
      await ready(world, one);
      await goes(world);
      const condition = await world.condition(kinds.controlPlane, "Deleting");
      assert.match(condition?.message ?? "", /demo-10\.5\.0\.1/);
      const uuid = new RegExp(`${annotations.abandonMachine}: (\\S+?)[.,;\\s]`).exec(condition?.message ?? "")?.[1];
      assert.ok(uuid !== undefined, condition?.message);
      assert.notEqual(await world.get(kinds.machine, "demo-10.5.0.1"), undefined);
      assert.notEqual(await world.get(kinds.secret, "demo-bundle-1"), undefined);
      await world.annotate(kinds.controlPlane, annotations.abandonMachine, uuid);
      await world.until("gone", async () => (await world.get(kinds.controlPlane)) === undefined, 300);
    });
  });

  test("and is followed by silence keeps the finalizer until the machine shows that it is wiped", () => {
    resets.length = 0;
    let told: Story | undefined;
    const lies = new Map<string, Lie>([
      [
        "Reset",
        async (answer, machine) => {
          const reply = await answer();
          told?.datacenter.machine(machine).setConnected(false);
          return reply;
        },
      ],
    ]);
    return tell({ dialer: lying(lies) }, async (world) => {
      told = world;
      await ready(world, one);
      await world.client.resource(kinds.cluster).delete(demo);
      await world.until("sent", async () => world.effects.some((call) => call.startsWith("Reset")), 120);
      await world.time.advance(1_800_000);
      assert.notEqual(await world.get(kinds.machine, "demo-10.5.0.1"), undefined);
      assert.match((await world.condition(kinds.controlPlane, "Deleting"))?.message ?? "", /demo-10\.5\.0\.1/);
      world.datacenter.machine("10.5.0.1").setConnected(true);
      await world.until("gone", async () => (await world.get(kinds.controlPlane)) === undefined, 300);
    });
  });
});

describe("IN77: a version that a machine tells is cut and shown as text", () => {
  for (const { name, tag } of [
    { name: "with signs that move a terminal's cursor", tag: "v1.13.9\u001b[2J\u001b]0;owned\u0007" },
    { name: "with markup", tag: "<img src=x onerror=alert(1)>" },
    { name: "of ten thousand characters", tag: `v1.13.9${"x".repeat(10_000)}` },
  ])
    test(name, () => {
      const lies = new Map<string, Lie>([
        [
          "Version",
          async (answer) => {
            const reply = (await answer()) as { messages: { version?: { tag: string } }[] };
            for (const { version } of reply.messages) if (version !== undefined) version.tag = tag;
            return reply;
          },
        ],
      ]);
      return tell({ dialer: lying(lies) }, async (world) => {
        await apply(world, kinds.cluster, demoCluster(["10.5.0.1"]));
        await world.start();
        await world.time.advance(120_000);
        const stored = JSON.stringify(await Promise.all([kinds.cluster, kinds.controlPlane, kinds.record].map((type) => world.get(type))));
        const machine = JSON.stringify(await world.get(kinds.machine, "demo-10.5.0.1"));
        const events = JSON.stringify((await world.client.resource(kinds.event).list({})).items);
        for (const text of [stored, machine, events]) {
          // eslint-disable-next-line no-control-regex
          assert.doesNotMatch(text, /\\u001b|\\u0007|\u001b/);
          assert.ok(!text.includes("x".repeat(400)), "not cut");
        }
      });
    });
});

describe("IN63: host names", () => {
  const named = (hostname: string): object => ({ apiVersion: "v1alpha1", kind: "HostnameConfig", auto: "off", hostname });
  const cluster = (...patches: object[]) =>
    demoCluster([], [], {
      metalSpec: { machines: cps.map((address) => ({ address })), machineSpec: { installDisk: "/dev/sda", configPatches: patches } },
    });

  test("that three machines would share are sent to none of them, and the condition names the machines", () =>
    tell({}, async (world) => {
      await apply(world, kinds.cluster, cluster(named("same")));
      await world.start();
      await world.until("told", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "NameConflict", 60);
      await world.time.advance(600_000);
      assert.deepEqual(world.sent, []);
      const { message = "" } = (await world.condition(kinds.controlPlane, "Ready")) ?? {};
      assert.match(message, /configPatches\[0\]: the host name same would be that of 10\.5\.0\.1, 10\.5\.0\.2 and 10\.5\.0\.3\./);
    }));

  test("that change after the installation, short and full, cost no member", () =>
    tell({}, async (world) => {
      await ready(world);
      const edit = { type: "merge", value: cluster() } as const;
      for (const [index, address] of cps.entries()) {
        const machines = cps.map((one, at) => ({
          address: one,
          ...(at <= index ? { configPatches: [named(`cp-${at}.example.org`)] } : {}),
        }));
        const value = { spec: { controlPlane: { metalSpec: { machines } } } };
        await world.client.resource(kinds.cluster).patch(demo, { ...edit, value });
        await world.until(
          `renamed ${address}`,
          async () => (world.datacenter.machine(address).state.config.persisted ?? "").includes(`cp-${index}.example.org`),
          900,
        );
      }
      await world.time.advance(600_000);
      assert.deepEqual(
        left(world.sent).filter((call) => !call.startsWith("Reboot")),
        [],
      );
      assert.equal((await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status, "True");
    }));
});

describe("IN64: a clock that is wrong by less than a day", () => {
  for (const minutes of [6, 23 * 60])
    test(`the operator's, ahead by ${minutes} minutes: certificates begin long before, and the cluster is made`, () =>
      tell({ operatorClock: (real) => ({ now: () => real.now() + minutes * 60_000 }) }, async (world) => {
        await apply(world, kinds.cluster, demoCluster(["10.5.0.1"]));
        await world.start();
        await world.untilReady();
        await world.time.advance(60_000);
        await assertQuiet(world);
      }));

  for (const minutes of [6, 23 * 60])
    test(`the operator's, behind by ${minutes} minutes: it says that it is a clock, and goes on when that is right`, () => {
      let skewMs = -minutes * 60_000;
      return tell({ operatorClock: (real) => ({ now: () => real.now() + skewMs }) }, async (world) => {
        await apply(world, kinds.cluster, demoCluster(["10.5.0.1"]));
        await world.start();
        await world.until("told", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "ClockSkewed", 120);
        assert.match((await world.condition(kinds.controlPlane, "Ready"))?.message ?? "", /Set the clocks/);
        assert.ok(!world.sent.some((call) => call.startsWith("Bootstrap")));
        skewMs = 0;
        await world.untilReady();
      });
    });
});
