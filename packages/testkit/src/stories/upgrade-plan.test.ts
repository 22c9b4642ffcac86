// What a plan says of an upgrade of Talos, and that it is what then happens.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { printPlan, whatIf } from "@talos-operator/operator";
import type { WhatIf } from "@talos-operator/operator";
import { demoTimings } from "@talos-operator/simulator";
import { asPerson } from "./as-person.ts";
import { demoCluster, tell } from "./story.ts";
import { cps, edit as editTo, ready, upgraded } from "./upgrades.ts";
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

async function planned(world: Story, edit: Edit): Promise<WhatIf> {
  const [found] = await whatIf([edited(edit)], { client: world.client, now: world.time.now(), hosts: { allowLoopback: false } });
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
    test(name, () =>
      tell(
        { timings: demoTimings, ...(from === undefined ? {} : { machines: all.map((address) => ({ address, talosVersion: from })) }) },
        async (world) => {
          await ready(world, edited(edit, from ?? "v1.13.9"));
          await world.time.advance(60_000);
          if (leaderMoves === true) {
            await asPerson(world, "10.5.0.1", (client) => client.etcdForfeitLeadership({ timeoutMs: 10_000 }));
            await world.time.advance(90_000);
          }
          const found = await planned(world, edit);
          const sent = world.sent.length;
          await editTo(world, { ...edited(edit).spec });
          await upgraded(world, edit.version, all);
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
      ),
    );
});

/** Control planes before workers, each in their order: which workers of those that boot together come first is nobody's business. */
function byRole(a: string, b: string): number {
  const rank = (call: string): number => (workers.some((address) => call.endsWith(` ${address}`)) ? 1 : 0);
  return rank(a) - rank(b);
}
