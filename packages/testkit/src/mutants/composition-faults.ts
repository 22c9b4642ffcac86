import { engine, type Mutant } from "./mutant.ts";

const composition = "operator/src/composition/kubernetescluster";
const machine = "operator/src/composition/machine";

/** Faults of composing clusters from Machines. */
export const compositionFaults: readonly Mutant[] = [
  {
    name: "machines-before-pools",
    about: "lets Machines go while the control plane on them is still being taken down",
    stands: ["V7"],
    tests: [`${composition}/decide.test.ts`],
    edits: [
      {
        file: `${composition}/decide.ts`,
        find: "if (controlPlane !== undefined || workers.length > 0)",
        replace: "if (workers.length > 0)",
      },
    ],
  },
  {
    name: "made-while-it-goes",
    about:
      "goes on making a KubernetesCluster that is deleted, as its control plane hears of it last, and configures machines that are wiped at once",
    stands: ["guard T2"],
    workload: "compose-abort",
    edits: [
      {
        file: `${composition}/decide.ts`,
        find: "ask([...workers, ...(controlPlane === undefined ? [] : [controlPlane])])",
        replace: "ask(controlPlane !== undefined && workers.length === 0 ? [controlPlane] : workers)",
      },
      {
        file: `${engine}/effects/configure-machine.ts`,
        find: "if (action.isForWipe !== true) await effects.demandKept(action.machine.name);",
        replace: "",
      },
    ],
  },
  {
    name: "configured-by-the-watch",
    about: "T2: learns from its watch alone that a cluster is deleted, and configures its machines meanwhile",
    stands: ["guard T2"],
    tests: ["testkit/src/stories/deleted-while-made.test.ts"],
    edits: [
      {
        file: `${engine}/effects/configure-machine.ts`,
        find: "if (action.isForWipe !== true) await effects.demandKept(action.machine.name);",
        replace: "",
      },
    ],
  },
  {
    name: "waits-for-an-endpoint",
    about:
      "makes keys before the endpoint of a cluster is known: without it a cluster that is deleted takes them for those of a lost record",
    tests: ["testkit/src/stories/deleted-while-made.test.ts"],
    edits: [
      {
        file: `${engine}/gates/keep-keys.ts`,
        find: "if (waiting !== undefined) return { actions: [], waiting };",
        replace: "if (waiting === null) return { actions: [], waiting };",
      },
    ],
  },
  {
    name: "advice-without-keys",
    about: "says of a machine that it is another cluster's and has to be reset, while the keys of its own are gone",
    stands: ["guard T9"],
    tests: ["testkit/src/stories/lost-keys.test.ts"],
    edits: [
      {
        file: "operator/src/projections/machine/decide.ts",
        find: "if (areKeysInDoubt !== true) return undefined;",
        replace: "if (areKeysInDoubt !== null) return undefined;",
      },
    ],
  },
  {
    name: "locked-out",
    about: "sends a new machine a firewall that shuts everybody out of the Talos API, as a running one would take it back",
    tests: ["testkit/src/stories/lockout.test.ts"],
    edits: [
      {
        file: `${engine}/procedures/join/plan.ts`,
        find: "if (declared.lockout !== undefined)",
        replace: "if (declared.lockout === name)",
      },
    ],
  },
  {
    name: "machines-made-twice",
    about: "makes a second Machine for each whose TalosMachine is there and that no list tells of",
    tests: [`${composition}/ask-by-name.test.ts`],
    edits: [
      {
        file: `${composition}/decide.ts`,
        find: "composition.passedOver.length > 0",
        replace: "composition.passedOver.length < 0",
      },
    ],
  },
  {
    name: "labels-tell-the-pool",
    about: "lets a Machine go that runs, as somebody edited a label of it and nothing holds a machine under the name that this makes",
    stands: ["V7"],
    tests: [`${composition}/decide.test.ts`],
    edits: [
      { file: `${composition}/pool-of-machine.ts`, find: "if (listed !== undefined)", replace: "if (listed === null)" },
      { file: `${composition}/pool-of-machine.ts`, find: "if (stands !== undefined)", replace: "if (stands === null)" },
    ],
  },
  {
    name: "ownerless-machines-replaced",
    about: "drains and wipes machines, and makes others in their place, as somebody took the owner off their Machines",
    tests: [`${composition}/decide.test.ts`],
    edits: [{ file: `${composition}/plan.ts`, find: "const strayed = strayedFrom(pool, seen);", replace: "const strayed: string[] = [];" }],
  },
  {
    name: "deletes-what-is-not-taken-over",
    about: "deletes the Machines of a running cluster that was to be taken over and was deleted before anybody approved that",
    stands: ["V7"],
    tests: [`${composition}/decide.test.ts`],
    edits: [
      { file: `${composition}/decide.ts`, find: "if (isStillOfOthers(seen))", replace: "if (isStillOfOthers({ ...seen, machines: [] }))" },
    ],
  },
  {
    name: "takes-orphaned-pools-back",
    about:
      "K5: a KubernetesCluster that was deleted with --cascade=orphan owns its pools and Machines again, which are wiped and deleted with it",
    stands: ["guard K5"],
    tests: ["testkit/src/stories/composition-orphaned.test.ts"],
    edits: [
      {
        file: `${composition}/live-cluster.ts`,
        find: "ownerStays(metadata, live?.metadata)",
        replace: "live?.metadata.uid !== metadata.name",
      },
    ],
  },
  {
    name: "paused-composition-by-the-watch",
    about:
      "learns from its watch alone that a KubernetesCluster was paused: takes the pause of its pools back, makes Machines and deletes pools",
    stands: ["guard K5"],
    tests: ["testkit/src/stories/composition-paused.test.ts"],
    edits: [
      {
        file: `${composition}/live-cluster.ts`,
        find: "live !== undefined && pausedBy(live)",
        replace: "live === undefined && pausedBy(live as never)",
      },
    ],
  },
  {
    name: "renamed-cluster-made-anew",
    about: "takes pools and Machines of a cluster that is named otherwise by now for such that nobody wants, which wipes the workers",
    tests: [`${composition}/decide.test.ts`],
    edits: [
      {
        file: `${composition}/decide.ts`,
        find: "madeAs !== undefined && madeAs !== model.name",
        replace: 'madeAs === "" && madeAs !== model.name',
      },
    ],
  },
  {
    name: "no-list-tells-no-pool",
    about: "lets Machines and a cluster go whose control plane is there and no list tells of",
    stands: ["V7"],
    tests: [`${composition}/ask-by-name.test.ts`],
    edits: [
      { file: `${composition}/decide.ts`, find: "if (seen.isAsked !== true)", replace: "if (seen.isAsked === undefined && seen.now < 0)" },
    ],
  },
  {
    name: "lost-record-frees-machines",
    about: "lets a Machine go whose TalosMachine is gone while the record of its bootstrapped cluster is away",
    tests: [`${composition}/read-holding.test.ts`],
    edits: [
      {
        file: `${composition}/read-holding.ts`,
        find: "signOfEarlierLife({ controlPlane }) !== undefined",
        replace: "controlPlane.kind === undefined",
      },
    ],
  },
  {
    name: "anew-record-frees-machines",
    about: "lets a Machine go that was installed while a record that was made anew has not met its machine",
    tests: [`${composition}/read-holding.test.ts`],
    edits: [
      {
        file: `${composition}/read-holding.ts`,
        find: "isMadeAnew(facts) ? onlyInstalled",
        replace: "facts.machines.length < 0 ? onlyInstalled",
      },
    ],
  },
  {
    name: "installed-and-forgotten",
    about: "writes no Machine down that was installed and that nothing else tells of, when the record is made anew",
    tests: [`${engine}/observe/told-machines.test.ts`],
    edits: [
      {
        file: `${engine}/observe/told-machines.ts`,
        find: "machines: [...facts.machines, ...told, ...installed] };",
        replace: "machines: [...facts.machines, ...told] };",
      },
    ],
  },
  {
    name: "second-machine-believed",
    about: "takes a second Machine for a machine of the cluster for one that a lost record knew, and wipes it",
    tests: [`${engine}/observe/told-machines.test.ts`, `${composition}/read-holding.test.ts`],
    edits: [
      {
        file: `${engine}/observe/told-machines.ts`,
        find: "other.releasedAt !== undefined || other.address !== address",
        replace: "other.releasedAt !== undefined || other.address !== name",
      },
    ],
  },
  {
    name: "given-up-while-it-answers",
    about: "gives a machine up whose TalosMachine is gone, because its provider says that it is destroyed, though it answers",
    tests: [`${composition}/decide.test.ts`],
    edits: [
      {
        file: `${composition}/decide.ts`,
        find: "return seen.silent?.has(talosMachine) === true;",
        replace: "return seen.holding?.has(talosMachine) === true;",
      },
    ],
  },
  {
    name: "untold-means-wiped",
    about: "says that nothing is installed on a Machine whose TalosMachine a list lacks",
    tests: [`${machine}/decide.test.ts`],
    edits: [
      {
        file: `${machine}/decide.ts`,
        find: 'return talosMachine?.status?.state === "Pending";',
        replace: 'return (talosMachine?.status?.state ?? "Pending") === "Pending";',
      },
    ],
  },
  {
    name: "one-id-for-two",
    about: "works on a cluster whose id an older one has",
    stands: ["V7"],
    tests: [`${composition}/decide.test.ts`],
    edits: [{ file: `${composition}/decide.ts`, find: "if (seen.olderTwin !== undefined)", replace: "if (seen.olderTwin === '')" }],
  },
  {
    name: "installed-because-sent",
    about: "marks a Machine as installed that was only sent its configuration",
    stands: ["V8"],
    tests: [`${machine}/decide.test.ts`],
    edits: [
      {
        file: `${machine}/decide.ts`,
        find: 'return state === "Available" && isConditionTrue(conditions, "Reachable") && findCondition',
        replace: 'return state !== "" && findCondition',
      },
    ],
  },
  {
    name: "addresses-flap",
    about: "takes whatever address a provider names first by now",
    stands: ["V17"],
    tests: [`${machine}/node-address.test.ts`],
    edits: [
      {
        file: `${machine}/node-address.ts`,
        find: "if (current !== undefined && all.includes(current)) return current;",
        replace: "if (current !== undefined && all.length === 0) return current;",
      },
    ],
  },
  {
    name: "members-flap",
    about: "tells the network only of the control planes whose provider names an address right now",
    stands: ["V17"],
    tests: [`${composition}/pool-members.test.ts`],
    edits: [
      {
        file: `${composition}/pool-members.ts`,
        find: "known.includes(address) || (!isComplete && !gone.has(address))",
        replace: "known.includes(address)",
      },
    ],
  },
  {
    name: "leaving-members-stay",
    about: "puts a control plane that leaves behind the shared address again",
    stands: ["V18"],
    tests: [`${composition}/pool-members.test.ts`],
    edits: [{ file: `${composition}/pool-members.ts`, find: "machines.filter(({ leaves }) => !leaves);", replace: "machines.slice();" }],
  },
  {
    name: "going-ones-come-back",
    about: "counts a Machine that is being deleted among those that stay",
    stands: ["V18"],
    tests: [`${composition}/plan-group.test.ts`],
    edits: [
      {
        file: `${composition}/plan-group.ts`,
        find: "members.filter(({ isGoing }) => !isGoing).toSorted(byIndex);",
        replace: "members.toSorted(byIndex);",
      },
    ],
  },
];
