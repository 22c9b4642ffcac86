import { engine, type Mutant } from "./mutant.ts";

const budget = `${engine}/disruption/pool-budget.ts`;
const tests = [`${engine}/disruption/pool-budget.test.ts`] as const;
const slot = `${engine}/disruption/control-plane-slot.ts`;
const slotTests = [`${engine}/disruption/control-plane-slot.test.ts`] as const;
const marginTests = [`${engine}/disruption/control-plane-margin.test.ts`] as const;

/** Faults of the budget that removals and rollouts of a pool share. */
export const disruption: readonly Mutant[] = [
  {
    name: "rollout-forgets-leavers",
    about: "boots a worker beside one that leaves and is wiped (S24)",
    tests,
    edits: [{ file: budget, find: "if (intents.length > 0) down.set", replace: "if (intents.length > 99) down.set" }],
  },
  {
    name: "removal-forgets-boots",
    about: "wipes a worker beside one that is asked to boot and still calls itself ready (S24)",
    tests,
    edits: [{ file: budget, find: "if (isBusy || !isReady)", replace: "if (!isReady)" }],
  },
  {
    name: "drains-take-no-place",
    about: "disturbs a worker beside one that is drained (S24)",
    tests,
    edits: [
      {
        file: budget,
        find: 'else if (drain !== undefined) down.set(declared.name, "draining");\n    else if (fact',
        replace: "else if (fact",
      },
    ],
  },
  {
    name: "places-not-taken",
    about: "takes as many workers of a pool down in one pass as want to (S24)",
    tests: ["testkit/src/stories/membership.test.ts", ...tests],
    edits: [
      {
        file: budget,
        find: "holdersOf(owner.name).put(name, ranks.draining)",
        replace: "holdersOf(owner.name).put(`${name}-`, ranks.changes)",
      },
    ],
  },
  {
    name: "staged-boot-together",
    about: "boots every worker that waits for its boot once the limit is lowered (S24)",
    tests,
    edits: [{ file: budget, find: "return ofLower + this.#position(name, rank);", replace: "return ofLower;" }],
  },
  {
    name: "share-of-namesakes",
    about: "counts control planes of the pool's name for its share",
    tests,
    edits: [
      {
        file: `${engine}/assess/assess.ts`,
        find: "maxUnavailableOf(worker?.spec?.rolloutStrategy, own.length)",
        replace: "maxUnavailableOf(worker?.spec?.rolloutStrategy, machines.filter((one) => one.declared.owner.name === name).length)",
      },
    ],
  },
  {
    name: "dead-one-blocks-itself",
    about: "lets a worker that is down wait for others of its pool",
    tests,
    edits: [{ file: budget, find: 'if (!isReadyNode(machine)) return { kind: "free" };', replace: "" }],
  },
  {
    name: "drains-hold-no-place",
    about: "empties a second control plane of its pods for a boot while one that leaves is being emptied (S11)",
    tests: slotTests,
    edits: [{ file: slot, find: "return bid.under === undefined ? heldByDrain(assessed, bid) : undefined;", replace: "return undefined;" }],
  },
  {
    name: "boot-before-removal",
    about: "lets the drain for a boot hold up a control plane that leaves, against the order of priorities",
    tests: slotTests,
    edits: [{ file: slot, find: 'rankOf(isListed ? "boot" : "remove")', replace: 'rankOf("remove")' }],
  },
  {
    name: "boots-again-without-a-look",
    about: "orders a boot again under its intent though another control plane has died since (S10)",
    tests: [`${engine}/procedures/configure/settle-config.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/configure/settle-config.ts`,
        find: 'member, under }).kind === "granted"',
        replace: 'member, under }).kind !== "held" || seen.mayDisturb',
      },
    ],
  },
  {
    name: "workers-beside-two-away",
    about: "counts one control plane as out where one is away and another about to boot, and drains workers beside both",
    tests: marginTests,
    edits: [
      {
        file: `${engine}/disruption/control-plane-margin.ts`,
        find: "away.length + (busy === undefined || isCounted ? 0 : 1)",
        replace: "Math.max(away.length, busy === undefined || isCounted ? 0 : 1)",
      },
    ],
  },
  {
    name: "pool-goes-beside-a-dead-control-plane",
    about: "drains the workers of a deleted pool while a control plane is away and etcd could lose no other",
    tests: [`${engine}/procedures/delete/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: 'return margin.kind === "none" && margin.holder.kind !== "founding"',
        replace: 'return margin.kind === "none" && margin.holder.kind === "takeover"',
      },
    ],
  },
  {
    name: "boot-ends-wipe",
    about: "forgets that a machine is being wiped when the boot before it ends",
    tests: [`${engine}/procedures/configure/settle-config.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/configure/config-intents.ts`,
        find: "draft.close(intent.machine, intent.what)",
        replace: "draft.close(intent.machine)",
      },
    ],
  },
  {
    name: "wipe-in-boot",
    about: "wipes a worker that was asked to boot, and forgets the wipe in its boot",
    tests: [`${engine}/procedures/remove/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/remove/plan-worker-removals.ts`,
        find: 'if (intentOn(facts, fact.name, "Reboot") !== undefined)',
        replace: 'if (intentOn(facts, "", "Reboot") !== undefined)',
      },
    ],
  },
];
