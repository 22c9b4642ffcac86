import { engine, type Mutant } from "./mutant.ts";

const file = `${engine}/invariants/broken.ts`;
const tests = [`${engine}/invariants/broken.test.ts`] as const;

/** Those that a table shows broken when nothing else is. */
const ids = ["S1", "S2", "S3", "S4", "S5", "S6", "S10", "S11", "S12", "S13", "S15", "S19", "S20", "S24", "S32"] as const;

/** Rules that break what no pass may break: each is noticed by the assertion alone, and goes through without it. */
export const passInvariantFaults: readonly Mutant[] = [
  ...ids.map((id): Mutant => ({
    name: `pass-breaks-${id.toLowerCase()}`,
    about: `lets a rule through whose pass breaks ${id}`,
    tests,
    edits: [
      {
        file,
        find: "const detail = invariant.broken(pass);",
        replace: `const detail = id === "${id}" ? undefined : invariant.broken(pass);`,
      },
    ],
  })),
  {
    name: "pass-breaks-s14",
    about: "lets a rule through whose pass removes two members of etcd (S14)",
    tests,
    edits: [{ file: `${engine}/invariants/of-etcd.ts`, find: "removals(pass).length > 1 ?", replace: "removals(pass).length > 9 ?" }],
  },
  {
    name: "broken-pass-sent",
    about: "says that a pass would break an invariant, and sends it all the same",
    tests: [...tests, "testkit/src/stories/invariants.test.ts"],
    edits: [
      {
        file: `${engine}/decide.ts`,
        find: "{ actions: whatGoesOn(assessed), waiting: {",
        replace: "{ ...verdict, waiting: {",
      },
    ],
  },
  {
    name: "removal-without-a-place",
    about: "wipes workers of a pool beside others that are down: the assertion of the pass notices before anything is sent (S24)",
    workload: "change-and-leave",
    runs: 12,
    edits: [
      {
        file: `${engine}/procedures/remove/plan-worker-removals.ts`,
        find: 'if (place.kind === "none")',
        replace: 'if (place.kind === "none" && place.limit > 99)',
      },
    ],
  },
  {
    name: "deletion-opens-two",
    about: "writes down the wipe of two control planes in one pass (S11)",
    tests: [`${engine}/procedures/delete/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: 'if (declared.role === "controlplane") hasBegunControlPlane = true;',
        replace: "",
      },
    ],
  },
];
