// What is told of an upgrade before anything of it has begun.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkloadDialer } from "@talos-operator/ports";
import { inside, keepAvailable, runPod } from "./cluster-pods.ts";
import { kinds, tell } from "./story.ts";
import { ask, pending, ready, upgraded } from "./upgrades.ts";
import type { Story } from "./story.ts";

const mode = "talos.alperen.cloud/reconcile-mode";
const worker = "10.5.0.4";

/** Lists of budgets that the operator asked the cluster's own API for. */
function counted(asked: string[], answers: () => boolean = () => true): (real: WorkloadDialer) => WorkloadDialer {
  return (real) => ({
    dial(target) {
      const transport = real.dial(target);
      return {
        ...transport,
        async send(request, options) {
          if (!request.path.endsWith("/poddisruptionbudgets")) return transport.send(request, options);
          asked.push(request.path);
          if (!answers()) return { status: 503, headers: {}, body: {} };
          return transport.send(request, options);
        },
        watch: (request, options) => transport.watch(request, options),
        close: () => transport.close(),
      };
    },
  });
}

/** A pod on the worker that its budget does not let go. */
async function heldBack(world: Story): Promise<void> {
  await runPod(world, worker, "web-1", { labels: { app: "web" } });
  await keepAvailable(world.workload(), "web", 1);
  await world.time.advance(2_000);
}

const plan = async (world: Story): Promise<string> => (await world.condition(kinds.cluster, "DryRun"))?.message ?? "";
const told = async (world: Story): Promise<string> => (await pending(world))?.message ?? "";

test("a dry run names budgets that will hold up drains, order and quorum; it sends nothing, and asks while it stands and never at rest", () => {
  const asked: string[] = [];
  return tell({ workloads: counted(asked) }, async (world) => {
    const sent = await ready(world);
    await heldBack(world);
    await world.annotate(kinds.cluster, mode, "dryrun");
    await world.time.advance(600_000);
    assert.deepEqual(asked, [], "nothing is ahead");
    const writes = world.workloadWrites.length;
    await ask(world, "v1.13.10");
    await world.until("told", async () => (await plan(world)).includes("default/web-budget"), 120);
    assert.match(
      await plan(world),
      /Upgrade of Talos: In 1 hop: .*4 boots in 4 turns, .*: demo-10\.5\.0\.\d.* While a control plane boots etcd may lose no other voter\. PodDisruptionBudgets that allow no eviction now: default\/web-budget\. Drains wait for them\./,
    );
    const before = asked.length;
    await world.time.advance(3_600_000);
    assert.ok(asked.length - before >= 11 && asked.length - before <= 13, `${asked.length - before} times in an hour`);
    await world.workload().resource(inside.budget).delete({ namespace: "default", name: "web-budget" });
    await world.until("told anew", async () => !(await plan(world)).includes("default/web-budget"), 400);
    assert.deepEqual([world.sent.slice(sent), world.workloadWrites.slice(writes)], [[], []]);
  });
});

test("an upgrade that waits says what will hold up its drains, and the forecast holds nothing up", () => {
  const asked: string[] = [];
  let answers = false;
  return tell({ workloads: counted(asked, () => answers) }, async (world) => {
    await ready(world);
    await heldBack(world);
    world.datacenter.machine("10.5.0.3").powerOff();
    await world.time.advance(120_000);
    await ask(world, "v1.13.10");
    await world.until("unknown", async () => /evicted pods, are not known: its own API answers/.test(await told(world)), 120);
    assert.equal((await pending(world))?.reason, "UpgradeWaits");
    answers = true;
    await world.until("told", async () => (await told(world)).includes("default/web-budget"), 120);
    assert.match(await told(world), /Ahead: \d boots .* etcd does not answer while a control plane boots/);
    await world.workload().resource(inside.budget).delete({ namespace: "default", name: "web-budget" });
    world.datacenter.machine("10.5.0.3").powerOn();
    await upgraded(world, "v1.13.10");
    const before = asked.length;
    await world.time.advance(1_800_000);
    assert.equal(asked.length, before, "nothing is ahead any more");
  });
});

test("an upgrade that begins at once asks once at most what may hold it up", () => {
  const asked: string[] = [];
  return tell({ workloads: counted(asked) }, async (world) => {
    await ready(world);
    await ask(world, "v1.13.10");
    await upgraded(world, "v1.13.10");
    assert.ok(asked.length <= 1, String(asked.length));
  });
});
