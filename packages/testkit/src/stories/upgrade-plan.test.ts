// What a plan says of an upgrade of Talos, and that it is what then happens.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosCluster, TalosMachine } from "@talos-operator/api";
import { printPlan, whatIf } from "@talos-operator/operator";
import type { WhatIf } from "@talos-operator/operator";
import type { Logger } from "@talos-operator/ports";
import { demoTimings } from "@talos-operator/simulator";
import { asPerson } from "./as-person.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import { cps, edit as editTo, failed, ready, settled, upgraded } from "./upgrades.ts";
import type { Story } from "./story.ts";

// Three: when one of them proved what is asked for, two go at a time.
const workers = ["10.5.0.4", "10.5.0.5", "10.5.0.6"];
const all = [...cps, ...workers];

/** The call that arrives at a machine for a step of a plan. */
const calls: Readonly<Record<string, string>> = {
  PullInstaller: "Pull",
  InstallTalos: "Upgrade",
  UpgradeTalos: "Upgrade",
  ForfeitLeadership: "EtcdForfeitLeadership",
  RebootMachine: "Reboot",
};

/** An edit of the versions, and how many workers may be down. */
interface Edit {
  readonly version: string;
  readonly maxUnavailable?: number;
}

function edited({ version, maxUnavailable = 1 }: Edit, from?: string): TalosCluster {
  const cluster = demoCluster(cps, workers);
  const { controlPlane, worker } = cluster.spec ?? {};
  const rolloutStrategy = { rollingUpdate: { maxUnavailable } };
  const asked = { version: from ?? version, kubeVersion: "v1.35.4" };
  return {
    ...cluster,
    spec: { controlPlane: { ...controlPlane, ...asked }, worker: { ...worker, ...asked, rolloutStrategy } },
  } as TalosCluster;
}

const planned = (world: Story, edit: Edit): Promise<WhatIf> => plannedOf(world, edited(edit));

async function plannedOf(world: Story, cluster: TalosCluster): Promise<WhatIf> {
  const [found] = await whatIf([cluster], { client: world.client, now: world.time.now(), hosts: { allowLoopback: false } });
  assert.ok(found !== undefined);
  return found;
}

/** `Reboot 10.5.0.1`, in order. */
function callsOf({ plan: { steps } }: WhatIf): readonly string[] {
  return steps.flatMap(({ action, machines }) => {
    const call = calls[action];
    return call === undefined ? [] : machines.map((name) => `${call} ${name.replace("demo-", "")}`);
  });
}

/** `Uncordon 10.5.0.1`: everything that disturbs machines or changes Nodes but drains, in order. */
function doneIn({ plan: { steps } }: WhatIf): readonly string[] {
  return steps.flatMap(({ action, machines, says }) => {
    if (action === "TaintNodes" || action === "UntaintNodes") return [`${action} ${(says.match(/10\.5\.0\.\d/g) ?? []).join(" ")}`];
    return calls[action] === undefined && action !== "Uncordon" ? [] : machines.map((name) => `${action} ${name.replace("demo-", "")}`);
  });
}

/** Words with which the log says that something is done to a machine or a Node. */
const DONE =
  /^(Pulling installer|Installing Talos|Upgrading Talos|Handing over|Rebooting machine|Took the (cordon|taint)|Pods that are evicted rather)/;

interface Done {
  readonly action?: string;
  readonly machine?: string;
  readonly nodes?: readonly string[];
}

function noting(done: Done[], about: object = {}): Logger {
  const note = (fields: object, message: string): void => void (DONE.test(message) && done.push({ ...about, ...fields }));
  return { debug: note, info: note, warn: note, error: note, child: (fields) => noting(done, { ...about, ...fields }) };
}

/** The same words as {@link doneIn}. */
async function doneBy(world: Story, done: readonly Done[]): Promise<readonly string[]> {
  const { items } = await world.client.resource<TalosMachine>(kinds.machine).list({ namespace: "default" });
  const addressOf = new Map(items.map(({ status, spec }) => [status?.nodeName ?? "", spec?.endpoint ?? ""]));
  return done.map(({ action = "", machine, nodes = [] }) => {
    const told =
      machine === undefined
        ? nodes.map((node) => addressOf.get(node) ?? "").toSorted((a, b) => (a < b ? -1 : 1))
        : [machine.replace("demo-", "")];
    return `${action} ${told.join(" ")}`;
  });
}

const ofMachine = (sent: readonly string[], address: string): readonly string[] => sent.filter((call) => call.endsWith(` ${address}`));

const cases: readonly { readonly name: string; readonly from?: string; readonly edit: Edit; readonly leaderMoves?: true }[] = [
  { name: "the next patch", edit: { version: "v1.13.10" } },
  { name: "the next patch, when another member leads", edit: { version: "v1.13.10" }, leaderMoves: true },
  { name: "two workers at a time", edit: { version: "v1.13.10", maxUnavailable: 2 } },
  { name: "two hops, the first by one call each", from: "v1.12.4", edit: { version: "v1.14.0" } },
  { name: "by one call each", from: "v1.12.4", edit: { version: "v1.12.5" } },
];

describe("a plan of another Talos says exactly what then happens", () => {
  for (const { name, from, edit, leaderMoves } of cases)
    test(name, () => {
      const noted: Done[] = [];
      return tell(
        {
          timings: demoTimings,
          log: noting(noted),
          ...(from === undefined ? {} : { machines: all.map((address) => ({ address, talosVersion: from })) }),
        },
        async (world) => {
          await ready(world, edited(edit, from ?? "v1.13.9"));
          await world.time.advance(60_000);
          if (leaderMoves === true) {
            await asPerson(world, "10.5.0.1", (client) => client.etcdForfeitLeadership({ timeoutMs: 10_000 }));
            await world.time.advance(90_000);
          }
          const found = await planned(world, edit);
          const sent = world.sent.length;
          noted.length = 0;
          await editTo(world, { ...edited(edit).spec });
          await upgraded(world, edit.version, all);
          await world.time.advance(60_000);
          // Those that go together begin in any order, and what is done to Nodes between two hops may.
          if (edit.maxUnavailable === undefined && found.plan.forecast?.startsWith("In 2 hops") !== true)
            assert.deepEqual(doneIn(found), await doneBy(world, noted), printPlan(found.plan));
          assert.deepEqual(doneIn(found).toSorted(), (await doneBy(world, noted)).toSorted());
          // A machine of Talos 1.12 does not know the newer name of a pull, and is asked by the older one.
          const did = world.sent.slice(sent).filter((call) => !call.startsWith("ImagePull "));
          for (const address of all) assert.deepEqual(ofMachine(callsOf(found), address), ofMachine(did, address), address);
          const boots = (of: readonly string[]): readonly string[] =>
            of.filter((call) => call.startsWith("Reboot") || (from !== undefined && call.startsWith("Upgrade")));
          assert.deepEqual(boots(callsOf(found)).toSorted(byRole), boots(did).toSorted(byRole), printPlan(found.plan));
          // Who leads in a later hop shows then.
          const order = [...(found.plan.forecast ?? "").matchAll(/demo-([\d.]*\d)/g)]
            .map(([, address = ""]) => address)
            .slice(0, all.length);
          const first = boots(did).slice(0, cps.length);
          assert.deepEqual(
            order.slice(0, cps.length),
            first.map((call) => call.split(" ")[1] ?? ""),
            found.plan.forecast,
          );
        },
      );
    });
});

const factory = (digit: string): string => `factory.talos.dev/metal-installer/${digit.repeat(64)}`;

/** The cluster with this installer on every machine. */
function withImage(image: string, more: object = {}): TalosCluster {
  const cluster = edited({ version: "v1.13.9" });
  const { controlPlane, worker } = cluster.spec ?? {};
  const metalSpec = (of: { readonly metalSpec?: object } | undefined): object => ({
    ...of?.metalSpec,
    machineSpec: { installDisk: "/dev/sda", image, ...more },
  });
  return {
    ...cluster,
    spec: { controlPlane: { ...controlPlane, metalSpec: metalSpec(controlPlane) }, worker: { ...worker, metalSpec: metalSpec(worker) } },
  } as TalosCluster;
}

describe("a plan of an upgrade that cannot begin says why, and forecasts no boots", () => {
  test("for a version in quarantine", () =>
    tell({}, async (world) => {
      await ready(world, edited({ version: "v1.13.9" }));
      world.datacenter.setReleaseFault("v1.13.10", { installerExitCode: 3 });
      await editTo(world, { ...edited({ version: "v1.13.10" }).spec });
      await failed(world);
      await editTo(world, { ...edited({ version: "v1.13.9" }).spec });
      await settled(world);
      const text = printPlan((await planned(world, { version: "v1.13.10" })).plan);
      assert.doesNotMatch(text, /\bboots? in\b/);
      assert.match(
        text,
        /^Nothing would be done yet\.\nNot in this plan: Upgrade stopped: Talos v1\.13\.10 failed on demo-10\.5\.0\.2.*talos-operator\.dev\/lift-quarantine: v1\.13\.10/,
      );
    }));

  for (const [what, pools, boots] of [
    ["all machines", ["controlPlane", "worker"], undefined],
    ["workers", ["worker"], "3 boots in 3 turns"],
  ] as const)
    test(`for an image of ${what} whose tag is another version`, () =>
      tell({}, async (world) => {
        await ready(world, edited({ version: "v1.13.9" }));
        await world.time.advance(60_000);
        const cluster = edited({ version: "v1.13.10" });
        for (const pool of pools)
          Object.assign(cluster.spec?.[pool]?.metalSpec ?? {}, {
            machineSpec: { installDisk: "/dev/sda", image: "ghcr.io/siderolabs/installer:v1.13.8" },
          });
        const { plan } = await plannedOf(world, cluster);
        const text = printPlan(plan);
        assert.match(text, /is not that of v1\.13\.10: set image to it, or to a name without a tag/);
        assert.equal(/\d+ boots in \d+ turns/.exec(plan.forecast ?? "")?.[0], boots, text);
        if (boots === undefined) assert.match(text, /^Nothing would be done yet\.\nNot in this plan: /);
      }));
});

describe("a plan of another image", () => {
  test("says exactly what then happens", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world, withImage(factory("1")));
      await world.time.advance(60_000);
      assert.equal(printPlan((await plannedOf(world, withImage(factory("1")))).plan), "Nothing would be done.");
      const found = await plannedOf(world, withImage(factory("2")));
      assert.match(found.plan.forecast ?? "", /v1\.13\.9 with another image.*6 boots /);
      const sent = world.sent.length;
      await editTo(world, { ...withImage(factory("2")).spec });
      await world.until(
        "all run it",
        async () => all.every((one) => world.datacenter.machine(one).state.schematic?.startsWith("2")),
        3_600,
      );
      await upgraded(world, "v1.13.9", all);
      const did = world.sent.slice(sent);
      for (const address of all) assert.deepEqual(ofMachine(callsOf(found), address), ofMachine(did, address), printPlan(found.plan));
    }));

  test("says that the schematic is not reported where it is not, and not that nothing would be done", () =>
    tell({}, async (world) => {
      await ready(world, withImage(factory("1")));
      await world.time.advance(60_000);
      await world.stop();
      for (const address of all)
        await world.client
          .resource(kinds.machine)
          .patchStatus(
            { namespace: "default", name: `demo-${address}` },
            { type: "merge", value: { status: { observedSchematic: null } } },
          );
      const { plan } = await plannedOf(world, withImage(factory("2")));
      assert.match(
        printPlan(plan),
        /^Nothing would be done yet\.\nNot in this plan: The schematic that runs is not reported yet: demo-10\.5\.0\.1/,
      );
    }));

  test("says of kernel arguments that the boot loader decides", () =>
    tell({}, async (world) => {
      await ready(world, withImage(factory("1")));
      await world.time.advance(60_000);
      const configPatches = [{ machine: { install: { extraKernelArgs: ["quiet"], grubUseUKICmdline: false } } }];
      const { plan } = await plannedOf(world, withImage(factory("1"), { configPatches }));
      assert.doesNotMatch(printPlan(plan), /Nothing would be done\./);
      assert.match(printPlan(plan), /The boot loader is not reported: demo-10\.5\.0\.1/);
    }));
});

/** Control planes before workers, each in their order: which workers of those that boot together come first is nobody's business. */
function byRole(a: string, b: string): number {
  const rank = (call: string): number => (workers.some((address) => call.endsWith(` ${address}`)) ? 1 : 0);
  return rank(a) - rank(b);
}
