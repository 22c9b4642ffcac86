import { engine, type Mutant } from "./mutant.ts";

/** Faults about machines in containers, which a reset only stops. */
export const containers: readonly Mutant[] = [
  {
    name: "container-reset-while-listed",
    about: "resets a container while etcd still lists it, since it was asked to leave",
    tests: ["testkit/src/stories/container-removal.test.ts"],
    edits: [
      {
        file: `${engine}/procedures/remove/plan-container-reset.ts`,
        find: "  if (member !== undefined) {\n    const voter",
        replace: "  if (member !== undefined && mayAskAgain(seen, leaveEtcd, fact.name)) {\n    const voter",
      },
      {
        file: `${engine}/effects/reset-machine.ts`,
        find: '...where(unlistedAs("no-member"), noMember),',
        replace: "",
      },
    ],
  },
  {
    name: "accepted-key-by-prefix",
    about: "takes in a container with another hardware address for the beginning of the key that it shows",
    tests: ["testkit/src/stories/container-anew.test.ts"],
    edits: [
      {
        file: `${engine}/procedures/annotations/rule.ts`,
        find: "claims.find(({ spki }) => spki === value)",
        replace: "claims.find(({ spki }) => spki.startsWith(value))",
      },
    ],
  },
];
