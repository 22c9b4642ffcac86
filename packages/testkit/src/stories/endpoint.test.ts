// What answers at the endpoint of a cluster, and what that makes of Ready.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import type { EndpointAnswer, EndpointProbe } from "@talos-operator/ports";
import { demoTimings, realisticTimings } from "@talos-operator/simulator";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";
import { ask, cps, killed, ready, upgraded, versions, workers } from "./upgrades.ts";

const demo = (endpoint: string): ReturnType<typeof demoCluster> => demoCluster(cps, workers, { endpoint });

/** Says something else than the truth while `says` is set. */
function scripted(): { says: EndpointAnswer["kind"] | undefined; readonly endpoints: NonNullable<StoryOptions["endpoints"]> } {
  const script = {
    says: undefined as EndpointAnswer["kind"] | undefined,
    endpoints: (real: EndpointProbe): EndpointProbe => ({
      ask: async (target, options) =>
        script.says === undefined ? real.ask(target, options) : { kind: script.says, detail: "as scripted" },
    }),
  };
  return script;
}

const endpointOf = async (world: Story, kind: keyof typeof kinds = "controlPlane"): Promise<string> => {
  const condition = await world.condition(kinds[kind], "EndpointReachable");
  return condition === undefined ? "nothing" : `${condition.status} ${condition.reason}`;
};

const readyOf = async (world: Story, kind: keyof typeof kinds = "controlPlane"): Promise<string> => {
  const condition = await world.condition(kinds[kind], "Ready");
  return `${condition?.status} ${condition?.reason}`;
};

/** All machines are nodes and etcd is well, whatever the endpoint is. */
const made = (world: Story): Promise<void> =>
  world.until("made", async () => {
    const conditions = await Promise.all(["NodesReady", "EtcdHealthy"].map((type) => world.condition(kinds.controlPlane, type)));
    return conditions.every((one) => one?.status === "True");
  });

describe("an endpoint that does not lead to its cluster", () => {
  test("by a name that nobody resolves: the cluster is made, and is not ready, with the name and the cure", () =>
    tell({}, async (world) => {
      await apply(world, kinds.cluster, demo("https://shop.example.invalid:6443"));
      await world.start();
      await made(world);
      await world.time.advance(60_000);
      assert.deepEqual([await endpointOf(world), await readyOf(world)], ["False NameUnresolved", "False EndpointUnreachable"]);
      assert.deepEqual(
        [await endpointOf(world, "cluster"), await readyOf(world, "cluster")],
        ["False NameUnresolved", "False ControlPlaneNotReady"],
      );
      const message = (await world.condition(kinds.cluster, "Ready"))?.message ?? "";
      assert.match(message, /^TalosControlPlane demo: The endpoint https:\/\/shop\.example\.invalid:6443 does not resolve/);
      assert.match(message, /Create a DNS record/);
      assert.ok(message.length <= 300, `${message.length}: ${message}`);
    }));

  test("until the name resolves to a control plane: then it is ready within a minute", () => {
    const names = new Map<string, readonly string[]>();
    return tell({ names }, async (world) => {
      await apply(world, kinds.cluster, demo("https://shop.example:6443"));
      await world.start();
      await made(world);
      assert.equal(await endpointOf(world), "False NameUnresolved");
      names.set("shop.example", ["10.5.0.1"]);
      await world.untilReady(61);
      assert.equal(await endpointOf(world), "True Reached");
    });
  });

  test("where another cluster answers: at once", () => {
    const script = scripted();
    return tell({ endpoints: script.endpoints }, async (world) => {
      await ready(world);
      assert.equal(await endpointOf(world), "True Reached");
      script.says = "foreign";
      await world.time.advance(65_000);
      assert.deepEqual([await endpointOf(world), await readyOf(world)], ["False ForeignCertificate", "False EndpointUnreachable"]);
      script.says = undefined;
      await world.untilReady(65);
    });
  });

  test("where its name leads to another cluster in the same world: the certificate tells", () =>
    tell({ names: new Map([["shop.example", ["10.5.0.100"]]]) }, async (world) => {
      await apply(world, kinds.cluster, demoCluster(["10.5.0.1"]));
      await world.start();
      await world.untilReady();
      const other = demoCluster(["10.5.0.2"], [], { endpoint: "https://shop.example:6443" });
      await apply(world, kinds.cluster, { ...other, metadata: { ...other.metadata, name: "other" } });
      await world.until("made", async () => (await world.condition(kinds.controlPlane, "NodesReady", "other"))?.status === "True");
      await world.time.advance(10_000);
      assert.equal((await world.condition(kinds.controlPlane, "EndpointReachable", "other"))?.reason, "ForeignCertificate");
    }));

  test("where it is silent: unknown twice, and not ready from the third time on", () => {
    const script = scripted();
    return tell({ endpoints: script.endpoints }, async (world) => {
      await ready(world);
      script.says = "silent";
      await world.until("doubted", async () => (await endpointOf(world)) === "Unknown NoAnswer", 65);
      assert.equal(await readyOf(world), "True AllReady");
      await world.until("given up", async () => (await endpointOf(world)) === "False TimedOut", 30);
      await world.time.advance(1_000);
      assert.equal(await readyOf(world), "False EndpointUnreachable");
    });
  });

  test("an operator that starts anew says what the one before said until it has an answer", () => {
    const script = scripted();
    return tell({ endpoints: script.endpoints }, async (world) => {
      await ready(world);
      script.says = "refused";
      await world.until("refused", async () => (await endpointOf(world)) === "False ConnectionRefused", 65);
      const changed = (await world.condition(kinds.controlPlane, "Ready"))?.lastTransitionTime;
      await world.kill();
      await world.time.advance(60_000);
      await world.start();
      await world.time.advance(120_000);
      assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.lastTransitionTime, changed);
    });
  });

  test("holds nothing back: an upgrade of Talos goes its way", () => {
    const script = scripted();
    script.says = "refused";
    return tell({ timings: demoTimings, endpoints: script.endpoints }, async (world) => {
      await apply(world, kinds.cluster, demoCluster(cps, workers));
      await world.start();
      await made(world);
      await ask(world, "v1.13.10");
      await world.until("upgraded", () => Promise.resolve(versions(world).join() === "v1.13.10"), 3_600);
    });
  });
});

test("the annotation outside leaves the endpoint alone, on the control plane and on its TalosCluster", () => {
  const script = scripted();
  script.says = "silent";
  return tell({ endpoints: script.endpoints }, async (world) => {
    await apply(world, kinds.cluster, demoCluster(cps, workers));
    await world.start();
    await made(world);
    await world.until("not ready", async () => (await endpointOf(world)) === "False TimedOut", 60);
    for (const kind of ["cluster", "controlPlane"] as const) {
      await world.annotate(kinds[kind], annotations.endpointReachableFrom, "outside");
      await world.untilReady(10);
      assert.equal(await endpointOf(world), "Unknown OutsideOnly");
      await world.annotate(kinds[kind], annotations.endpointReachableFrom, undefined);
      await world.until("asked", async () => (await endpointOf(world)) === "False TimedOut", 60);
    }
  });
});

describe("a planned reboot", () => {
  for (const [what, endpoint] of [
    ["the machine whose address the endpoint is", "https://10.5.0.2:6443"],
    ["each control plane behind a virtual address that goes with it", "https://10.5.0.100:6443"],
  ] as const)
    test(`of ${what} does not make the endpoint unreachable`, () => {
      const told: string[] = [];
      const asked: string[] = [];
      let world: Story | undefined;
      // The address stays away while any control plane boots, as one that its holder takes along.
      const endpoints = (real: EndpointProbe): EndpointProbe => ({
        async ask(target, options) {
          const isAway = world?.datacenter
            .machines()
            .some(({ address, state }) => cps.includes(address) && (state.power !== "on" || state.stage !== "running"));
          const answer =
            isAway === true && endpoint.includes("100") ? ({ kind: "refused", detail: "" } as const) : await real.ask(target, options);
          asked.push(answer.kind);
          return answer;
        },
      });
      return tell({ timings: realisticTimings, endpoints }, async (story) => {
        world = story;
        await ready(story, demo(endpoint));
        asked.length = 0;
        await ask(story, "v1.13.10");
        await story.until(
          "upgraded",
          async () => {
            told.push(await endpointOf(story));
            return versions(story).join() === "v1.13.10";
          },
          3_600,
        );
        await upgraded(story, "v1.13.10", [...cps, ...workers]);
        await story.time.advance(120_000);
        told.push(await endpointOf(story));
        assert.ok(asked.includes("refused"), `it was away meanwhile: ${asked.join()}`);
        assert.deepEqual([...new Set(told)], ["True Reached"]);
        assert.equal(await readyOf(story), "True AllReady");
      });
    });

  test("with an operator that dies every three seconds in the middle of it neither", () => {
    const told: string[] = [];
    return tell({ timings: demoTimings }, async (world) => {
      await ready(world, demo("https://10.5.0.2:6443"));
      await ask(world, "v1.13.10");
      for (let count = 0; count < 15; count += 1) {
        await killed(world, 3_000, 1);
        told.push(await endpointOf(world));
      }
      await upgraded(world, "v1.13.10");
      told.push(await endpointOf(world));
      assert.deepEqual([...new Set(told)], ["True Reached"]);
    });
  });
});

test("an unplanned loss of the machine at the endpoint is told within a minute", () =>
  tell({}, async (world) => {
    await ready(world, demo("https://10.5.0.2:6443"));
    world.datacenter.machine("10.5.0.2").powerOff();
    await world.until("away", async () => (await endpointOf(world)).startsWith("False"), 60);
  }));

test("an endpoint that is the address of a machine that left says so", () =>
  tell({}, async (world) => {
    await ready(world, demoCluster(cps, workers, { endpoint: "https://10.5.0.3:6443" }));
    await world.client.resource(kinds.cluster).patch(
      { namespace: "default", name: "demo" },
      {
        type: "merge",
        value: {
          spec: {
            controlPlane: { metalSpec: { machines: [{ address: "10.5.0.1" }, { address: "10.5.0.2" }, { address: "10.5.0.5" }] } },
          },
        },
      },
    );
    await world.until("left", async () => (await endpointOf(world)) === "False MachineLeft", 900);
    const message = (await world.condition(kinds.controlPlane, "EndpointReachable"))?.message ?? "";
    assert.match(message, /is the address of demo-10\.5\.0\.3, which left the cluster/);
  }));

test("an endpoint without a port says which port clients use", () =>
  tell({ names: new Map([["shop.example", ["10.5.0.1"]]]) }, async (world) => {
    await apply(world, kinds.cluster, demo("https://shop.example"));
    await world.start();
    await world.until("told", async () => (await endpointOf(world)) === "False NoPort", 300);
  }));
