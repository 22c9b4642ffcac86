import { engine, type Mutant } from "./mutant.ts";

const tests = [`${engine}/assess/one-walk.test.ts`] as const;

/** Faults that decide nothing otherwise, and cost a large cluster its time. */
export const walks: readonly Mutant[] = [
  {
    name: "rule-plans-again",
    about: "plans configurations in a rule that could read them",
    tests,
    edits: [
      {
        file: `${engine}/procedures/configure/rule.ts`,
        find: "const plans = assessed.configs;",
        replace: "const plans = planConfigs(seen, facts);",
      },
      {
        file: `${engine}/procedures/configure/rule.ts`,
        find: 'import { routeOfState } from "./plan.ts";',
        replace: 'import { planConfigs, routeOfState } from "./plan.ts";',
      },
    ],
  },
  {
    name: "each-with-each",
    about: "looks for the place of each worker among all that are down",
    tests,
    edits: [
      {
        file: `${engine}/disruption/pool-budget.ts`,
        find: "const count = holders.countBefore(name, own);",
        replace:
          "const count = [...(pools.get(owner.name)?.machines ?? [])].filter((one) => holders.rankOf(one.declared.name) === -1).length;",
      },
    ],
  },
];
