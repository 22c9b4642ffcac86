import { engine, type Mutant } from "./mutant.ts";

/** Faults that take for a proof what proves nothing, and for the same what is alike. */
export const proofs: readonly Mutant[] = [
  {
    name: "founded-by-a-list-of-others",
    about: "takes etcd for founded by a member list in which the machine that tells it is not (S4)",
    stands: ["guard T4"],
    tests: [`${engine}/decide.test.ts`],
    edits: [
      {
        file: `${engine}/assess/etcd-view.ts`,
        find: "if (members.some((member) => member.id === localMember)) return",
        replace: "if (members.length > 0) return",
      },
    ],
  },
  {
    name: "no-talos-no-data-decided",
    about: "decides to found etcd while something that does not speak Talos answers for a configured control plane (S2)",
    tests: [`${engine}/decide.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/bootstrap/rule.ts`,
        find: 'if (look.kind === "not-asked" || look.kind === "foreign") return true;',
        replace: 'if (look.kind === "not-asked" || look.kind === "foreign") return true;\n  if (look.kind === "not-talos") return false;',
      },
    ],
  },
  {
    name: "orphan-that-is-shown",
    about: "takes the member of a machine that was let go for an orphan, though a machine shows it (S12)",
    tests: [`${engine}/procedures/remove/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/remove/plan-member-removal.ts`,
        find: "listed(view, memberId) && !isShown(seen, memberId)",
        replace: "listed(view, memberId)",
      },
    ],
  },
  {
    name: "removal-goes-on-though-it-is-shown",
    about: "goes on with the removal of a member that a machine shows again (S12)",
    tests: [`${engine}/procedures/remove/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/remove/plan-member-removal.ts`,
        find: "|| isShown(seen, memberId)) {",
        replace: ") {",
      },
    ],
  },
  {
    name: "abandoned-by-a-prefix",
    about: "gives up whatever machine the word of abandon-machine is the beginning of (S23)",
    tests: [`${engine}/procedures/remove/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/remove/removal.ts`,
        find: 'named !== "" && named === wordFor(facts, name, undefined)',
        replace: 'named !== "" && wordFor(facts, name, undefined).startsWith(named)',
      },
    ],
  },
  {
    name: "abandoned-by-a-prefix-in-a-deletion",
    about: "the same where the cluster is deleted (S23)",
    tests: [`${engine}/procedures/delete/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: 'named !== "" && named === wordFor(facts, declared.name, undefined)',
        replace: 'named !== "" && wordFor(facts, declared.name, undefined).startsWith(named)',
      },
    ],
  },
  {
    name: "abandoned-by-a-prefix-in-a-pool",
    about: "lets a pool go whose machine has the word of abandon-machine as its beginning (S23)",
    tests: [`${engine}/procedures/compose/held-machines.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/compose/held-machines.ts`,
        find: "(machine) => machineFact(facts, machine) === undefined && machine !== abandoned &&",
        replace: '(machine) => machineFact(facts, machine) === undefined && !machine.startsWith(abandoned ?? "-") &&',
      },
    ],
  },
  {
    name: "late-removal-not-awaited",
    about: "closes the removal of a member that is back as soon as its time is over, though what was sent may still take effect (S11)",
    tests: [`${engine}/procedures/remove/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/remove/plan-member-removal.ts`,
        find: "if (seen.now < intent.deadline + LATE_MS)",
        replace: "if (seen.now < intent.deadline)",
      },
    ],
  },
  {
    name: "no-uuid-is-any-uuid",
    about: "takes a machine that shows no UUID for the one whose UUID was written down (S20)",
    tests: [`${engine}/effects/demand-machine.test.ts`],
    edits: [
      {
        file: `${engine}/effects/demand-machine.ts`,
        find: 'if (uuid !== "" && shown.uuid !== uuid)',
        replace: 'if (uuid !== "" && shown.uuid !== undefined && shown.uuid !== uuid)',
      },
    ],
  },
  {
    name: "uuids-by-their-beginning-at-the-send",
    about: "compares the first 8 characters of UUIDs right before a send (S20)",
    tests: [`${engine}/effects/demand-machine.test.ts`],
    edits: [
      {
        file: `${engine}/effects/demand-machine.ts`,
        find: 'if (uuid !== "" && shown.uuid !== uuid)',
        replace: 'if (uuid !== "" && shown.uuid?.slice(0, 8) !== uuid.slice(0, 8))',
      },
    ],
  },
  {
    name: "uuids-by-their-beginning",
    about: "compares the first 8 characters of UUIDs where a look is compared with what was written down (S20)",
    tests: [`${engine}/observe/proven-look.test.ts`],
    edits: [
      {
        file: `${engine}/observe/proven-look.ts`,
        find: "fact.uuid.toLowerCase() !== shown.uuid?.toLowerCase()",
        replace: "fact.uuid.slice(0, 8).toLowerCase() !== shown.uuid?.slice(0, 8).toLowerCase()",
      },
    ],
  },
  {
    name: "uuids-by-their-beginning-in-probes",
    about: "compares the first 8 characters of UUIDs where others are asked before a bootstrap or a removal (S2)",
    tests: [`${engine}/assess/identity.test.ts`],
    edits: [
      {
        file: `${engine}/assess/identity.ts`,
        find: "shown !== undefined && shown !== writtenDown",
        replace: "shown !== undefined && shown.slice(0, 8) !== writtenDown.slice(0, 8)",
      },
    ],
  },
  {
    name: "keys-that-lost-the-race",
    about: "takes keys that it made for stored though somebody else's Secret was there first (S5)",
    tests: ["testkit/src/effects/writes.test.ts"],
    edits: [{ file: `${engine}/effects/create-bundle.ts`, find: `if (outcome === "existed") return;`, replace: "" }],
  },
  {
    name: "first-reading-for-ever",
    about: "lets all effects of a pass go by the first record that one of them read (S32)",
    tests: [`${engine}/effects/guard.test.ts`],
    edits: [{ file: `${engine}/effects/guard.ts`, find: "if (reading === begun) reading = undefined;", replace: "" }],
  },
  {
    name: "owner-of-a-composition-not-asked",
    about: "makes objects of a KubernetesCluster by the cache alone, which may show what was deleted or paused",
    tests: ["testkit/src/stories/composition-orphaned.test.ts"],
    edits: [
      {
        file: "operator/src/composition/kubernetescluster/live-cluster.ts",
        find: "(await (answer ??= ask())) && leading.remainingMs() > 0",
        replace: "leading.remainingMs() > 0 || (await (answer ??= ask()))",
      },
    ],
  },
  {
    name: "owner-of-a-composition-asked-once",
    about: "asks once for a KubernetesCluster whether it stays and is not paused, and never again",
    tests: ["testkit/src/stories/composition-orphaned.test.ts"],
    edits: [
      {
        file: "operator/src/composition/kubernetescluster/live-cluster.ts",
        find: "  let answer: Promise<boolean> | undefined;",
        replace: "",
      },
      {
        file: "operator/src/composition/kubernetescluster/live-cluster.ts",
        find: "export function liveCluster(",
        replace: "let answer: Promise<boolean> | undefined;\nexport function liveCluster(",
      },
    ],
  },
  {
    name: "owner-not-asked-before-a-pool",
    about: "makes a pool without asking whether its KubernetesCluster stays",
    tests: ["testkit/src/stories/composition-orphaned.test.ts"],
    edits: [
      {
        file: "operator/src/composition/kubernetescluster/apply-pools.ts",
        find: "if (!(await isOwnerThere())) return undefined;",
        replace: "void isOwnerThere;",
      },
    ],
  },
  {
    name: "owner-not-asked-before-a-new-machine",
    about: "makes a Machine without asking whether its KubernetesCluster stays",
    tests: ["operator/src/composition/kubernetescluster/apply-machines.test.ts"],
    edits: [
      {
        file: "operator/src/composition/kubernetescluster/apply-machines.ts",
        find: "      try {\n        if (!(await isOwnerThere())) return undefined;",
        replace: "      try {\n        void isOwnerThere;",
      },
    ],
  },
  {
    name: "owner-not-asked-at-the-write",
    about: "writes a Machine without asking once more whether its KubernetesCluster stays",
    tests: ["operator/src/composition/kubernetescluster/apply-machines.test.ts"],
    edits: [
      {
        file: "operator/src/composition/kubernetescluster/apply-machines.ts",
        find: "        const bound = uid === undefined ? manifest : { ...manifest, metadata: { ...manifest.metadata, uid } };\n        if (!(await isOwnerThere())) return undefined;",
        replace: "        const bound = uid === undefined ? manifest : { ...manifest, metadata: { ...manifest.metadata, uid } };",
      },
    ],
  },
  {
    name: "owner-not-asked-before-an-endpoint",
    about: "asks for an address without asking whether its KubernetesCluster stays",
    tests: ["testkit/src/stories/composition-endpoint.test.ts"],
    edits: [
      {
        file: "operator/src/composition/kubernetescluster/shared-endpoint.ts",
        find: "if (!isAsked && !(await isOwnerThere())) return waits",
        replace: "if (!isAsked && false as boolean) return waits",
      },
    ],
  },
  {
    name: "owner-not-asked-before-members",
    about: "changes the members of an address without asking whether its KubernetesCluster stays",
    tests: ["testkit/src/stories/composition-endpoint.test.ts"],
    edits: [
      { file: "operator/src/composition/kubernetescluster/shared-endpoint.ts", find: "if (!(await isOwnerThere())) return;", replace: "" },
    ],
  },
  {
    name: "owner-not-asked-before-given-secrets",
    about: "copies given keys without asking whether its KubernetesCluster stays",
    tests: ["testkit/src/stories/composition-given.test.ts"],
    edits: [
      { file: "operator/src/composition/kubernetescluster/keep-given.ts", find: "if (!(await isOwnerThere())) return;", replace: "" },
    ],
  },
  {
    name: "leader-of-before-makes-objects",
    about: "makes objects of a KubernetesCluster after its lease ended",
    tests: ["operator/src/composition/kubernetescluster/live-cluster.test.ts"],
    edits: [{ file: "operator/src/composition/kubernetescluster/live-cluster.ts", find: " && leading.remainingMs() > 0", replace: "" }],
  },
  {
    name: "pool-taken-back-by-the-watch",
    about: "makes pools of a TalosCluster by the cache alone",
    tests: ["testkit/src/stories/watches-behind.test.ts"],
    edits: [
      {
        file: "operator/src/composition/taloscluster/controller.ts",
        find: 'if (!(await isStillThere(cluster))) return "done";',
        replace: "void isStillThere;",
      },
    ],
  },
  {
    name: "pool-machines-by-the-watch",
    about: "acts on a worker pool by the cache alone",
    tests: ["testkit/src/stories/watches-behind.test.ts"],
    edits: [
      {
        file: `${engine}/effects/for-pool.ts`,
        find: "await effects.demandPool(pool);",
        replace: "void effects.demandPool;",
      },
    ],
  },
  {
    name: "key-in-the-path-of-an-error",
    about: "tells a key that lost its own name as the name of an unknown field (S9)",
    tests: ["testkit/src/stories/error-texts.test.ts"],
    edits: [
      {
        file: "talos/src/config/document/unknown-keys.ts",
        find: 'report(keyNode, path === "" ? shownName(key) : `${path}.${shownName(key)}`)',
        replace: "report(keyNode, inner)",
      },
    ],
  },
  {
    name: "values-in-the-message-of-an-error",
    about: "quotes whole values in the message of an error, and not in its detail alone (S9)",
    tests: ["testkit/src/stories/error-texts.test.ts"],
    edits: [
      {
        file: "talos/src/config/errors.ts",
        find: "super(`${code}: ${withoutValues(code, detail)}",
        replace: "super(`${code}: ${withoutValues === undefined ? code : detail}",
      },
    ],
  },
  {
    name: "cause-of-unreadable-keys",
    about: "tells why a secrets bundle cannot be read by quoting it (S9)",
    tests: ["testkit/src/stories/error-texts.test.ts"],
    edits: [
      {
        file: "talos/src/secrets/parse.ts",
        find: '  return bundleOfParts(readBundleParts(text, "1.14"));',
        replace: `  try {
    return bundleOfParts(readBundleParts(text, "1.14"));
  } catch (thrown) {
    throw new Error("cannot read the secrets bundle", { cause: new Error(text.slice(0, 4000)) });
  }`,
      },
    ],
  },
  {
    name: "late-link-in-place-of-a-new-file",
    about: "the same where the link comes after what was left there was removed",
    tests: ["adapters/src/file-tree.test.ts"],
    edits: [
      {
        file: "adapters/src/file-tree.ts",
        find: "constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW",
        replace: "constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC",
      },
    ],
  },
  {
    name: "link-in-place-of-a-new-file",
    about: "writes through a link that somebody put where the new file of RESULTS_PATH is begun",
    tests: ["adapters/src/file-tree.test.ts"],
    edits: [
      { file: "adapters/src/file-tree.ts", find: "      await rm(temporary, { force: true });\n", replace: "" },
      {
        file: "adapters/src/file-tree.ts",
        find: "constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW",
        replace: "constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC",
      },
    ],
  },
];
