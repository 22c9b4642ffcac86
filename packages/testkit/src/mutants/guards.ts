import { withoutRecord } from "./guard-without.ts";
import { engine, type Mutant } from "./mutant.ts";

const configure = `${engine}/effects/configure-machine.ts`;
const bootstrap = `${engine}/effects/bootstrap-etcd.ts`;
const tests = {
  decide: "operator/src/decide.test.ts",
  deletionTable: "operator/src/procedures/delete/rule.test.ts",
  releasePools: "operator/src/procedures/delete/release-pools.test.ts",
  heldMachines: "operator/src/procedures/compose/held-machines.test.ts",
  guard: "operator/src/effects/guard.test.ts",
  deletion: "testkit/src/stories/deletion.test.ts",
  impostors: "testkit/src/stories/impostors.test.ts",
  identity: "testkit/src/stories/identity.test.ts",
  lostKeys: "testkit/src/stories/lost-keys.test.ts",
  creation: "testkit/src/stories/creation.test.ts",
  edits: "testkit/src/stories/edits.test.ts",
} as const;

/** Each guard of an effect that takes part in making and taking down a cluster, removed in turn. */
export const guards: readonly Mutant[] = [
  {
    name: "bundle-under-a-new-name",
    about: "K1: gives the bundle a name that the next pass does not find again",
    stands: ["guard K1", "INC6"],
    edits: [
      {
        file: `${engine}/gates/keep-keys.ts`,
        find: 'actions: [{ kind: "CreateBundle", secret }],',
        replace: 'actions: [{ kind: "CreateBundle", secret: `${secret}${seen.now % 10}` }],',
      },
    ],
  },
  {
    name: "any-key-will-do",
    about: "T1: connects to whatever key answers, not to the one that was written down",
    stands: ["guard T1", "guard T2"],
    tests: [tests.impostors, tests.identity],
    edits: [
      {
        file: configure,
        find: `{ kind: "maintenance", expectedSpki: ifSpki }`,
        replace: `{ kind: "maintenance" }`,
      },
      { file: configure, find: "if (client.peerSpki() !== ifSpki)", replace: 'if (client.peerSpki() === "")' },
    ],
  },
  {
    name: "bootstrap-without-asking",
    about: "T4: bootstraps etcd without asking the other control planes right before",
    stands: ["guard T4", "INC15", "INC16"],
    trouble: "founded-and-replaced",
    edits: [
      {
        file: bootstrap,
        find: ".filter((target) => target.machine !== action.machine && (target.address",
        replace: ".filter((target) => action.machine === '' && (target.address",
      },
    ],
  },
  {
    name: "wipe-without-intent",
    about: "T9: wipes a machine without having written it down",
    stands: ["guard T9"],
    workload: "delete",
    edits: [
      withoutRecord("ResetMachine"),
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: "const actions = [...writes, ...drains, ...resets, ...removals];",
        replace: "const actions = [...(resets.length > 0 ? [] : writes), ...drains, ...resets, ...removals];",
      },
    ],
  },
  {
    name: "whoever-stands-there",
    about: "T4, T9, T11: takes whatever machine has the address for the one that was written down (INC3, W4)",
    stands: ["guard T4", "guard T9", "guard T11", "INC3", "INC14", "W2", "W4"],
    tests: [tests.deletion, tests.identity],
    edits: [
      {
        file: `${engine}/effects/demand-machine.ts`,
        find: 'if (uuid === "" && (fact?.macs ?? []).length === 0) return;',
        replace: 'if (uuid !== "nobody") return;',
      },
    ],
  },
  {
    name: "all-control-planes-wiped-at-once",
    about: "T9: opens a second control-plane intent while one is open (INC13, W4)",
    stands: ["guard T9", "INC10", "INC13", "W4"],
    workload: "delete",
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: 'if (declared.role === "controlplane" && hasBegunControlPlane) continue;',
        replace: "",
      },
    ],
  },
  {
    name: "wiped-because-accepted",
    about: "T9: lets a machine go when it accepted its reset, not when it shows that it is blank (S23, INC12)",
    stands: ["guard T9", "INC12"],
    workload: "delete",
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: `const isWiped = look.kind === "maintenance" &&`,
        replace: `const isWiped = (look.kind === "maintenance" || seen.sent.get(\`Reset/\${declared.name}\`)?.outcome === "answered") &&`,
      },
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: `compareIdentity(facts, fact, look) === "other"`,
        replace: `compareIdentity(facts, fact, look.kind === "maintenance" ? look : undefined) === "other"`,
      },
    ],
  },
  {
    name: "preserve-means-nothing",
    about: "T9: wipes machines of a cluster that is deleted with policy preserve",
    stands: ["guard T9"],
    workload: "delete-preserve",
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: `return object === undefined || (object.spec?.deletionPolicy ?? "reset") === "preserve";`,
        replace: `return object === undefined || (object.spec?.deletionPolicy as string | undefined) === "never";`,
      },
    ],
  },
  {
    name: "wipes-for-a-stranger",
    about: "T9: an object that never took over the cluster of its name wipes it when it is deleted",
    stands: ["guard T9"],
    tests: [tests.deletionTable, tests.deletion],
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: "if (isOfAnother(seen)) return leaveToAnother(seen);",
        replace: "if (isOfAnother(seen) && seen.now < 0) return leaveToAnother(seen);",
      },
    ],
  },
  {
    name: "takes-orphans-back",
    about: "K5: a TalosCluster that was deleted with --cascade=orphan is made the owner of its control plane again, which is wiped with it",
    stands: ["guard K5"],
    tests: [tests.deletion],
    edits: [
      {
        file: "operator/src/composition/taloscluster/controller.ts",
        find: "return ownerStays(metadata, live) && reconcileModeOf(live) === reconcileModeOf(metadata);",
        replace: "return live === undefined || reconcileModeOf(live) === reconcileModeOf(metadata);",
      },
    ],
  },
  {
    name: "keys-go-first",
    about: "deletes keys and record while machines still hold their configuration (S8, S23)",
    stands: ["INC12"],
    workload: "delete",
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: "if (own !== undefined) return own;",
        replace: "if (own !== undefined && own.actions.length > 0) return own;",
      },
    ],
  },
  {
    name: "lost-record-lets-go",
    about: "T9: a cluster whose record was lost is released as if nothing had been sent to its machines (S23)",
    stands: ["guard T9"],
    workload: "delete",
    trouble: "record-lost",
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: `if (first !== undefined) return first.kind === "verdict" ? first.verdict : undefined;`,
        replace: `if (first !== undefined && seen.now < 0) return first.kind === "verdict" ? first.verdict : undefined;`,
      },
    ],
  },
  {
    name: "lost-record-knows-nobody",
    about:
      "T2: a record that is made anew leaves out what TalosMachines tell: machines that join are forgotten, and those that left stay members",
    stands: ["guard T2"],
    workload: "replace",
    trouble: "record-lost",
    edits: [
      {
        file: `${engine}/procedures/join/first-facts.ts`,
        find: "machines: wasFound ? toldMachines(seen) : [],",
        replace: "machines: wasFound ? toldMachines(seen).slice(0, 0) : [],",
      },
      // Each pass looks for them again.
      {
        file: `${engine}/observe/told-machines.ts`,
        find: "const told = isTold ? ",
        replace: "const told = isTold && seen.now < 0 ? ",
      },
    ],
  },
  {
    name: "workers-after-control-planes",
    about: "deletes the control plane without waiting for its workers (W17)",
    stands: ["W17"],
    tests: [tests.deletionTable, tests.deletion],
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: "if (holding.length > 0)",
        replace: "if (holding.length > 99)",
      },
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: "if (poolVerdict !== undefined) return poolVerdict;",
        replace: "",
      },
    ],
  },
  {
    name: "what-no-list-tells-is-gone",
    about: "T9: deletes the keys while the pool of a worker is there and a list lacks it",
    stands: ["guard T9"],
    tests: [tests.deletionTable],
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: "if (seen.untold !== undefined && seen.untold.length > 0)",
        replace: "if (seen.untold !== undefined && seen.untold.length > 99)",
      },
    ],
  },
  {
    name: "what-nothing-stands-for-is-gone",
    about: "T9: lets a pool go whose TalosMachines are gone while the record says that its machines may be configured",
    stands: ["guard T9"],
    tests: [tests.releasePools],
    edits: [
      {
        file: `${engine}/procedures/compose/empty-pools.ts`,
        find: "machines.length === 0 && heldOf(seen, pool).length === 0",
        replace: "machines.length === 0",
      },
    ],
  },
  {
    name: "lost-record-frees-a-pool",
    about: "T9: lets a pool go whose TalosMachines are gone while the record of its bootstrapped cluster is away",
    stands: ["guard T9"],
    tests: [tests.heldMachines],
    edits: [
      {
        file: `${engine}/procedures/compose/held-machines.ts`,
        find: "signOfEarlierLife({ controlPlane }) === undefined",
        replace: "controlPlane.kind !== undefined",
      },
    ],
  },
  {
    name: "anew-record-knows-all",
    about: "T9: lets a pool go whose TalosMachines are gone while a record that was made anew has not met its machines",
    stands: ["guard T9"],
    tests: [tests.heldMachines],
    edits: [
      {
        file: `${engine}/procedures/compose/held-machines.ts`,
        find: "if (!isMadeAnew(facts)) return known;",
        replace: "if (facts.machines !== undefined) return known;",
      },
    ],
  },
  {
    name: "namespace-goes-machines-go",
    about: "wipes machines because their namespace is going away (O10, S19)",
    stands: ["guard T9"],
    tests: [tests.deletionTable, tests.deletion],
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: "seen.namespaceIsTerminating === false ||",
        replace: "seen.namespaceIsTerminating !== true ||\n    seen.namespaceIsTerminating ||",
      },
    ],
  },
  {
    name: "nobody-can-give-up",
    about: "waits for a dead machine for ever, whatever a person says (W18)",
    stands: ["W18"],
    tests: [tests.deletionTable, tests.deletion],
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: 'return named !== undefined && named !== "" &&',
        replace: 'return named === "" &&',
      },
    ],
  },
  {
    name: "machine-comes-back",
    about: "configures the machines of a pool again that were just wiped (INC29)",
    stands: ["INC29"],
    tests: [tests.decide, tests.deletionTable],
    edits: [
      {
        file: `${engine}/procedures/join/plan.ts`,
        find: "if (isStopped.has(declared.name) || isOwnerGoing(seen, declared)) continue;",
        replace: "if (isStopped.has(declared.name)) continue;",
      },
    ],
  },
  {
    name: "unknown-word-wipes",
    about: "wipes under a reconcile-mode that nobody knows (S31)",
    stands: ["W8"],
    tests: [tests.deletionTable, tests.edits],
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: "if (seen.unknownMode !== undefined) {",
        replace: 'if (seen.unknownMode === "") {',
      },
    ],
  },
  {
    name: "first-disk-taken",
    about: "installs on the first disk, whatever is on it (W23)",
    stands: ["W23"],
    tests: ["operator/src/config/install-disk.test.ts"],
    edits: [{ file: "operator/src/config/install-disk.ts", find: `disk.transport !== "usb"`, replace: `disk.transport !== "none"` }],
  },
];
