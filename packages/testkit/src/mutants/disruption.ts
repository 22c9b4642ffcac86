import { brain, type Mutant } from "./mutant.ts";

const budget = `${brain}/disruption/pool-budget.ts`;
const tests = [`${brain}/disruption/pool-budget.test.ts`] as const;

/** Faults of the budget that removals and rollouts of a pool share. */
export const disruption: readonly Mutant[] = [
  {
    name: "rollout-forgets-leavers",
    about: "boots a worker beside one that leaves and is wiped (S24)",
    tests,
    edits: [{ file: budget, find: "if (busy.has(declared.name)) holdersOf", replace: "if (busy.size > 99) holdersOf" }],
  },
  {
    name: "removal-forgets-boots",
    about: "wipes a worker beside one that is asked to boot and still calls itself ready (S24)",
    tests,
    edits: [{ file: budget, find: "busy.has(name) || !isReadyNode(machine)", replace: "!isReadyNode(machine)" }],
  },
  {
    name: "drains-take-no-place",
    about: "disturbs a worker beside one that is drained (S24)",
    tests,
    edits: [{ file: budget, find: 'seen.drains?.has(name) === true ? "draining"', replace: 'seen.drains === undefined ? "draining"' }],
  },
  {
    name: "places-not-taken",
    about: "takes as many workers of a pool down in one pass as want to (S24)",
    tests: ["testkit/src/stories/membership.test.ts", ...tests],
    edits: [
      {
        file: budget,
        find: "holders.set(declared.name, Math.min(holders.get(declared.name) ?? ranks.draining, ranks.draining));",
        replace: "holders.delete(`${declared.name}-`);",
      },
    ],
  },
  {
    name: "staged-boot-together",
    about: "boots every worker that waits for its boot once the limit is lowered (S24)",
    tests,
    edits: [{ file: budget, find: "(rank === own && other < name)", replace: "(rank === own && other === name)" }],
  },
  {
    name: "share-of-namesakes",
    about: "counts control planes of the pool's name for its share",
    tests,
    edits: [{ file: budget, find: 'owner.kind === "TalosWorker" && owner.name === pool', replace: "owner.name === pool" }],
  },
  {
    name: "dead-one-blocks-itself",
    about: "lets a worker that is down wait for others of its pool",
    tests,
    edits: [{ file: budget, find: 'if (!isReadyNode(machine)) return { kind: "free" };', replace: "" }],
  },
  {
    name: "boot-ends-wipe",
    about: "forgets that a machine is being wiped when the boot before it ends",
    tests: [`${brain}/rules/settle-config.test.ts`],
    edits: [
      {
        file: `${brain}/config-changes/config-intents.ts`,
        find: "withoutIntent(facts, intent.machine, intent.what)",
        replace: "withoutIntent(facts, intent.machine)",
      },
    ],
  },
  {
    name: "wipe-in-boot",
    about: "wipes a worker that was asked to boot, and forgets the wipe in its boot",
    tests: [`${brain}/rules/membership.test.ts`],
    edits: [
      {
        file: `${brain}/membership/plan-worker-removals.ts`,
        find: 'if (intentOn(facts, fact.name, "Reboot") !== undefined)',
        replace: 'if (intentOn(facts, "", "Reboot") !== undefined)',
      },
    ],
  },
];
