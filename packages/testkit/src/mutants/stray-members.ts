import { engine, type Mutant } from "./mutant.ts";

const strays = `${engine}/assess/stray-members.ts`;
const plan = `${engine}/procedures/strays/plan-strays.ts`;
const strayTests = [`${engine}/assess/stray-members.test.ts`] as const;
const planTests = [`${engine}/procedures/strays/plan-strays.test.ts`] as const;

/** Faults in which members of etcd count as nobody's. */
export const strayMembers: readonly Mutant[] = [
  {
    name: "stray-by-silence",
    about: "takes the member of a machine that does not tell its own for nobody's (S13)",
    tests: strayTests,
    edits: [{ file: strays, find: "return !isElsewhere;", replace: "return false;" }],
  },
  {
    name: "stray-by-a-list-that-is-empty",
    about: "takes every member for nobody's when no control plane is listed (S15)",
    tests: strayTests,
    edits: [
      {
        file: strays,
        find: 'if (!seen.machines.some(({ declared }) => declared.role === "controlplane")) return [];',
        replace: "",
      },
    ],
  },
  {
    name: "stray-after-the-record-was-lost",
    about: "removes a member whose machine a record that was made anew does not know",
    tests: strayTests,
    edits: [{ file: strays, find: "isMadeAnew(facts) ?", replace: "facts.machines.length < 0 ?" }],
  },
  {
    name: "stray-at-the-address-of-a-machine",
    about: "removes the member at the address of a machine that waits to be configured (S13)",
    tests: strayTests,
    edits: [{ file: strays, find: "if (hasAddress(member, declared.address) ||", replace: "if (hasAddress(member, declared.name) ||" }],
  },
  {
    name: "stray-by-its-record",
    about: "takes the member of a machine that is silent for nobody's, though the record knows whose it is (S12)",
    tests: strayTests,
    edits: [{ file: strays, find: "if (known.has(member.id) &&", replace: "if (known.has(member.name) &&" }],
  },
  {
    name: "stray-by-one-look",
    about: "removes a member that was seen to be nobody's for a moment (S13)",
    tests: planTests,
    edits: [{ file: plan, find: "if (seen.strays?.has(next.member.id) !== true)", replace: "if (seen.strays === undefined)" }],
  },
  {
    name: "stray-that-is-somebodys-by-now",
    about: "goes on with a removal although a machine may be it after all",
    tests: planTests,
    edits: [{ file: plan, find: "if (isStray !== true ||", replace: "if (isStray === null ||" }],
  },
  {
    name: "stray-removal-that-never-ends",
    about: "holds the one place of control planes for a removal of which nothing can arrive any more",
    tests: planTests,
    edits: [{ file: plan, find: "seen.now >= intent.deadline + LATE_MS", replace: "seen.now < 0" }],
  },
  {
    name: "sightings-by-one-look",
    about: "counts a member as nobody's for long as soon as it was seen (S13)",
    tests: [`${engine}/procedures/strays/sightings.test.ts`],
    edits: [
      { file: `${engine}/procedures/strays/sightings.ts`, find: "timer === undefined ? [id] : []", replace: "timer === null ? [] : [id]" },
    ],
  },
];
