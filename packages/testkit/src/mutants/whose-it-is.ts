import { engine, type Mutant } from "./mutant.ts";

const shared = "operator/src/controllers/shared";

/** Faults about whose an object, a machine or a word is, and from when. */
export const whoseItIs: readonly Mutant[] = [
  {
    name: "moved-worker-taken-for-found",
    about: "writes a worker that moves to another pool down as found running there, and wipes it all the same",
    tests: ["testkit/src/stories/membership.test.ts"],
    edits: [
      {
        file: `${engine}/assess/twins.ts`,
        find: 'return role === "worker" && other !== undefined',
        replace: 'return role !== "worker" && other !== undefined',
      },
    ],
  },
  {
    name: "address-of-a-reference-taken",
    about: "configures a machine that an older cluster found by reference, since no list of that cluster names its address (IN54)",
    tests: ["testkit/src/stories/references.test.ts"],
    edits: [
      {
        file: `${engine}/observe/surroundings.ts`,
        find: "const machine = this.#poolsElsewhere(own, address).length > 0 ? undefined : this.machineElsewhere(own, address);",
        replace: "const machine = this.#poolsElsewhere(own, address).length >= 0 ? undefined : this.machineElsewhere(own, address);",
      },
    ],
  },
  {
    name: "pool-of-an-edited-object",
    about: "T9: wipes a worker that the pool lists which it was written down with, since its TalosMachine names another",
    stands: ["guard T9"],
    tests: [`${engine}/effects/demand-unlisted.test.ts`],
    edits: [
      {
        file: `${engine}/effects/demand-unlisted.ts`,
        find: "recorded === poolName ? undefined : pool(recorded)",
        replace: "recorded !== poolName ? undefined : pool(recorded)",
      },
    ],
  },
  {
    name: "keys-of-another-cluster",
    about: "takes the keys of another cluster that lie under the name of its own",
    tests: ["testkit/src/stories/namesakes.test.ts"],
    edits: [
      {
        file: `${engine}/gates/keep-keys.ts`,
        find: 'if (keysElsewhere?.kind === "present")',
        replace: 'if (keysElsewhere?.kind === "present" && secret === "")',
      },
    ],
  },
  {
    name: "status-of-a-namesake",
    about: "writes what it saw of a deleted object into the status of the next one of its name",
    tests: [`${shared}/status-writer.test.ts`],
    edits: [
      {
        file: `${shared}/status-writer.ts`,
        find: "...(uid === undefined ? {} : { uid }),",
        replace: '...(uid === "" ? { uid } : {}),',
      },
    ],
  },
  {
    name: "orphans-deleted",
    about: "deletes what the garbage collector took off a cluster that was deleted with --cascade=orphan",
    tests: ["testkit/src/stories/watches-behind.test.ts", "testkit/src/stories/deletion.test.ts"],
    edits: [
      {
        file: `${shared}/delete-owned.ts`,
        find: "if (live.metadata?.ownerReferences?.some((reference) => reference.uid === owner) !== true) return false;",
        replace: 'if (owner === "nobody") return false;',
      },
    ],
  },
  {
    name: "orphaning-overlooked",
    about: "takes down the pools of a cluster that is deleted with --cascade=orphan",
    tests: ["operator/src/composition/taloscluster/decide.test.ts"],
    edits: [
      {
        file: `${shared}/delete-owned.ts`,
        find: 'return finalizers.includes("orphan");',
        replace: 'return finalizers.includes("nobody");',
      },
    ],
  },
  {
    name: "imported-as-they-stand",
    about: "imports control planes that stand at each other's addresses",
    tests: ["operator/src/procedures/import/assess.test.ts"],
    edits: [
      { file: "operator/src/procedures/import/assess.ts", find: "...swapped(seen), ", replace: "...(seen.now < 0 ? swapped(seen) : []), " },
    ],
  },
  {
    name: "first-version-counts",
    about: "writes down the version of one control plane as that of all",
    tests: [`${engine}/procedures/versions/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/versions/rule.ts`,
        find: "return others.every((one) => one === first) ? first : undefined;",
        replace: "return others.length >= 0 ? first : undefined;",
      },
    ],
  },
  {
    name: "late-machine-let-go",
    about: "lets a TalosMachine go whose cluster is gone, though a record says that its machine is to be wiped",
    tests: ["operator/src/projections/machine/left-alone.test.ts"],
    edits: [
      {
        file: "operator/src/projections/machine/left-alone.ts",
        find: "return facts !== undefined && !facts.machines.some((fact) => fact.name === name && mayHoldConfig(fact));",
        replace: 'return facts !== undefined && !facts.machines.some((fact) => fact.name === "" && name === "" && mayHoldConfig(fact));',
      },
    ],
  },
  {
    name: "told-identity-forgotten",
    about: "writes down whoever stands at an address while the record is lost, whatever the TalosMachine says of who it is",
    tests: [`${engine}/observe/told-machines.test.ts`],
    edits: [
      {
        file: `${engine}/observe/told-machines.ts`,
        find: "toldBy(placeOfTold(object), { uuid, macs }, now)",
        replace: "toldBy(placeOfTold(object), NOTHING_TOLD, now)",
      },
    ],
  },
  {
    name: "told-key-that-begins-alike",
    about: "takes a machine for the one that was configured whose key begins like the one that its TalosMachine names",
    tests: [`${engine}/observe/told-machines.test.ts`],
    edits: [
      {
        file: `${engine}/observe/told-machines.ts`,
        find: "look.spki === toldIdentity(object).maintenanceKey",
        replace: 'look.spki.startsWith(toldIdentity(object).maintenanceKey ?? "none")',
      },
    ],
  },
  {
    name: "identity-of-the-release-before-not-read",
    about: "knows nothing of the machines of a lost record that the release before told of in its sentences",
    tests: [`${engine}/observe/told-identity.test.ts`],
    edits: [
      {
        file: `${engine}/observe/told-identity.ts`,
        find: "return identityBefore(status?.conditions);",
        replace: "return identityBefore(undefined);",
      },
    ],
  },
  {
    name: "sentences-beside-identity-believed",
    about: "believes a sentence of a condition where a TalosMachine tells as data who its machine is",
    tests: [`${engine}/observe/told-identity.test.ts`],
    edits: [
      {
        file: `${engine}/observe/told-identity.ts`,
        find: 'uuid: told.uuid ?? ""',
        replace: "uuid: told.uuid ?? identityBefore(status?.conditions).uuid",
      },
    ],
  },
  {
    name: "failure-of-the-release-before-unread",
    about: "forgets that a machine refused settings which the record of the release before says so of in words alone",
    tests: ["operator/src/record/read-before.test.ts"],
    edits: [
      {
        file: "operator/src/record/read-before.ts",
        find: 'if (SENTENCES.refused.test(why)) return "refused";',
        replace: "",
      },
    ],
  },
  {
    name: "founded-again-without-record",
    about: "makes the lost record of a cluster that was bootstrapped anew when a worker alone shows its keys",
    tests: [`${engine}/procedures/join/first-facts.test.ts`],
    edits: [
      {
        file: `${engine}/gates/keep-keys.ts`,
        find: "foundedBy(controlPlanesOf(seen)) === undefined",
        replace:
          'foundedBy(controlPlanesOf(seen)) === undefined && ![...seen.machines, ...seen.former].some(({ look }) => look.kind === "running")',
      },
    ],
  },
  {
    name: "wiped-undrained-without-record",
    about: "takes a cluster whose record was made anew for one without a Kubernetes, and drains nothing",
    tests: [`${engine}/disruption/drain.test.ts`],
    edits: [
      {
        file: `${engine}/disruption/drain.ts`,
        find: "const awaited = onceFounderShows(seen, facts);",
        replace: 'const awaited = name === "" ? onceFounderShows(seen, facts) : undefined;',
      },
    ],
  },
  {
    name: "lost-without-a-trace",
    about: "lets a deleted cluster go whose record, keys and TalosMachines are gone, though its status says that it was bootstrapped",
    tests: [`${engine}/procedures/delete/rule.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: "const isFounded = signOfEarlierLife(seen) !== undefined;",
        replace: 'const isFounded = signOfEarlierLife(seen) === "";',
      },
    ],
  },
  {
    name: "told-late-forgotten",
    about: "deletes TalosMachines of machines that run when they turn up after their record was made anew",
    tests: [`${engine}/observe/told-machines.test.ts`],
    edits: [
      {
        file: `${engine}/procedures/join/plan.ts`,
        find: "new FactsDraft(withTold(seen, facts))",
        replace: "new FactsDraft(withTold({ ...seen, machineObjects: [] }, facts))",
      },
    ],
  },
  {
    name: "told-twin-learned",
    about: "writes a machine down a second time, for another entry that leads to it, while only its UUID is known",
    tests: [`${engine}/observe/told-machines.test.ts`],
    edits: [
      {
        file: `${engine}/assess/twins.ts`,
        find: "(isSameHardware(shown, other) || isTold(facts, other, shown.uuid))",
        replace: "isSameHardware(shown, other)",
      },
    ],
  },
  {
    name: "second-entry-configured",
    about: "says of a second entry for a machine that its configuration is there, which is taken for the truth once the record is lost",
    tests: ["operator/src/projections/machine/decide.test.ts"],
    edits: [
      {
        file: "operator/src/projections/machine/decide.ts",
        find: 'if (look.kind === "running" && fact === undefined && hasRecord)',
        replace: 'if (look.kind === "running" && fact === undefined && !hasRecord)',
      },
    ],
  },
  {
    name: "untold-machines-stay",
    about: "leaves TalosMachines behind that no list tells of",
    tests: ["testkit/src/stories/deletion.test.ts"],
    edits: [
      {
        file: `${engine}/effects/remove-finalizer.ts`,
        find: "await deleteUntold(effects);",
        replace: "void deleteUntold;",
      },
    ],
  },
  {
    name: "stale-watch-believed",
    about: "believes the first words of a watch that stood still",
    tests: [`${shared}/latest.test.ts`],
    edits: [{ file: `${shared}/latest.ts`, find: " && elapsedMs(movesSince, now) >= HEARD_WITHIN_MS;", replace: " && movesSince <= now;" }],
  },
  {
    name: "old-version-believed",
    about: "takes the answer to a write that changed nothing for a proof that its cache is new",
    tests: [`${shared}/own-writes.test.ts`],
    edits: [
      {
        file: `${shared}/own-writes.ts`,
        find: '&& typeof before === "string" && before !== version',
        replace: '&& typeof before === "string"',
      },
    ],
  },
  {
    name: "cache-behind-believed",
    about: "takes a cache for new that does not show what was just written",
    tests: [`${shared}/latest.test.ts`],
    edits: [
      {
        file: `${shared}/latest.ts`,
        find: "return resourceVersion !== undefined && (compareResourceVersions(resourceVersion, own.resourceVersion) ?? -1) >= 0;",
        replace: "return resourceVersion !== undefined && (compareResourceVersions(resourceVersion, own.resourceVersion) ?? -1) >= -1;",
      },
    ],
  },
  {
    name: "reads-before-all-asked",
    about: "reads lease and record for effects that still ask their machines",
    tests: [`${engine}/effects/guard.test.ts`],
    edits: [
      {
        file: `${engine}/effects/guard.ts`,
        find: "gathering.asked + gathering.ended >= gathering.expected",
        replace: "gathering.asked + gathering.ended >= Math.min(1, gathering.expected)",
      },
    ],
  },
  {
    name: "composes-beside-another",
    about: "begins to take a KubernetesCluster over while the operator that made it is at work on it",
    tests: ["testkit/src/stories/composition-takeover.test.ts"],
    edits: [
      {
        file: "operator/src/composition/kubernetescluster/controller.ts",
        find: "isLeftToOthers(seen) ? await",
        replace: 'isLeftToOthers(seen) && key.name === "" ? await',
      },
    ],
  },
  {
    name: "composer-not-looked-at",
    about: "takes over the cluster of a KubernetesCluster that another operator still writes",
    tests: ["testkit/src/stories/composition-takeover.test.ts"],
    edits: [
      {
        file: "operator/src/neighbours/neighbours.ts",
        find: "firstWriterOf([controlPlane, ...pools, composer])",
        replace: "firstWriterOf([controlPlane, ...pools, ...[composer].slice(1)])",
      },
    ],
  },
  {
    name: "machines-of-anybody",
    about:
      "writes on the Machines of every KubernetesCluster: of other providers, of those that rest, and beside the operator that made them (S31)",
    tests: ["testkit/src/stories/composition.test.ts", "testkit/src/stories/composition-takeover.test.ts"],
    edits: [
      {
        file: "operator/src/composition/machine/controller.ts",
        find: "if (machine === undefined || !isOfOurs(machine)) return undefined;",
        replace:
          'if (machine === undefined || (controllerOf(machine.metadata)?.kind !== "KubernetesCluster" && !isOfOurs(machine))) return undefined;',
      },
    ],
  },
];
