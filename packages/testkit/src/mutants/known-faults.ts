import { engine, type Mutant } from "./mutant.ts";

const tests = {
  decide: `${engine}/decide.test.ts`,
  quorum: `${engine}/assess/quorum.test.ts`,
  membership: `${engine}/procedures/remove/rule.test.ts`,
  deletion: `${engine}/procedures/delete/rule.test.ts`,
  cluster: "operator/src/composition/taloscluster/decide.test.ts",
  machine: "operator/src/projections/machine/decide.test.ts",
  gate: "operator/src/looking/look-gate.test.ts",
  look: "operator/src/looking/look-at.test.ts",
  workload: "operator/src/workload/cluster-workload.test.ts",
  drain: "operator/src/workload/drain-run.test.ts",
  informer: "kube-runtime/src/watch/create-informer.test.ts",
  bundle: "talos/src/secrets/secrets.test.ts",
  first: "testkit/src/effects/first-looks.test.ts",
  writes: "testkit/src/effects/writes.test.ts",
  creation: "testkit/src/stories/creation.test.ts",
  edits: "testkit/src/stories/edits.test.ts",
  pauses: "testkit/src/stories/pauses.test.ts",
  import: "operator/src/procedures/import/assess.test.ts",
  dryRun: "testkit/src/stories/dry-run.test.ts",
  configRef: "testkit/src/stories/config-ref.test.ts",
  references: "testkit/src/stories/references.test.ts",
  addresses: "api/src/validation/addresses.test.ts",
  meta: "testkit/src/stories/meta.test.ts",
} as const;

const quorum = `${engine}/assess/quorum.ts`;
const keys = `${engine}/gates/keep-keys.ts`;
const cluster = "operator/src/composition/taloscluster/decide.ts";

/** Faults of other operators, and incidents, beside those of making, changing and taking down a cluster. */
export const knownFaults: readonly Mutant[] = [
  {
    name: "late-cache-counts-as-fresh",
    about: "goes on with an old cache when the wait for it took too long",
    stands: ["INC7"],
    tests: [tests.informer],
    edits: [
      {
        file: "kube-runtime/src/watch/cache-waiters.ts",
        find: 'end(() => reject(new KubeApiError("CACHE_TIMEOUT", { call, detail: `not reached within ${timeoutMs} ms` }))),',
        replace: "end(resolve),",
      },
    ],
  },
  {
    name: "only-known-keys-stored",
    about: "stores of a bundle only what it knows",
    stands: ["INC23"],
    tests: [tests.bundle],
    edits: [
      {
        file: "talos/src/secrets/print.ts",
        find: "withUnknown(knownFields(bundle), bundle.unknown ?? {})",
        replace: "withUnknown(knownFields(bundle), {})",
      },
    ],
  },
  {
    name: "rebuilt-after-lost-quorum",
    about: "bootstraps etcd once more where every control plane waits for it, whatever the record says of before",
    stands: ["INC26"],
    tests: [tests.decide],
    edits: [
      {
        file: `${engine}/procedures/bootstrap/rule.ts`,
        find: "if (facts.bootstrapDone !== undefined) return undefined;",
        replace: "if (foundedBy(controlPlanesOf(seen)) !== undefined && facts.bootstrapDone !== undefined) return undefined;",
      },
    ],
  },
  {
    name: "acts-without-quorum",
    about: "goes on with members although fewer than a majority answer",
    stands: ["INC26"],
    tests: [tests.quorum],
    edits: [{ file: quorum, find: "if (healthy < needed)", replace: "if (healthy < 0)" }],
  },
  {
    name: "members-by-name",
    about: "takes a member for the machine of the same name",
    stands: ["INC1", "INC30", "V12"],
    tests: [tests.membership, tests.quorum],
    edits: [
      {
        file: quorum,
        find: "machine: own.find((one) => one.id === id)?.machine, isHealthy",
        replace: "machine: own.find((one) => one.machine === name)?.machine, isHealthy",
      },
    ],
  },
  {
    name: "roles-by-name",
    about: "takes a machine for a control plane by its name",
    stands: ["V12"],
    tests: [tests.decide, tests.quorum],
    edits: [
      {
        file: `${engine}/assess/etcd-view.ts`,
        find: 'return [...seen.machines, ...seen.former].filter((machine) => machine.declared.role === "controlplane");',
        replace: "return [...seen.machines, ...seen.former].filter((machine) => /-cp-|controlplane/.test(machine.declared.name));",
      },
    ],
  },
  {
    name: "only-its-own-intents",
    about: "goes on only with effects that this very process began",
    stands: ["INC8", "INC32"],
    tests: [tests.membership],
    edits: [
      {
        file: `${engine}/procedures/remove/plan.ts`,
        find: 'if (open?.what === "Reset") return pursueReset(assessed, facts, open);',
        replace: 'if (open?.what === "Reset" && seen.sent.has(`Reset/${open.machine}`)) return pursueReset(assessed, facts, open);',
      },
    ],
  },
  {
    name: "removals-not-resumed",
    about: "goes on only with removals of members that this very process began",
    stands: ["INC8", "INC32"],
    tests: [tests.membership],
    edits: [
      {
        file: `${engine}/procedures/remove/plan.ts`,
        find: 'if (open?.what === "RemoveMember") return pursueRemoval(assessed, facts, open);',
        replace: 'if (open?.what === "RemoveMember" && seen.sent.size > 0) return pursueRemoval(assessed, facts, open);',
      },
    ],
  },
  {
    name: "one-silent-machine-stops-deletion",
    about: "wipes nobody while one machine does not answer",
    stands: ["W16", "W18"],
    tests: [tests.deletion, "testkit/src/stories/deletion.test.ts"],
    edits: [
      {
        file: `${engine}/procedures/delete/rule.ts`,
        find: "  for (const machine of machines) {\n    const { declared, look } = machine;",
        replace: `  if (machines.some(({ look }) => look.kind === "silent")) return waits("Resetting", seen, "A machine is silent.");
  for (const machine of machines) {
    const { declared, look } = machine;`,
      },
    ],
  },
  {
    name: "one-stopped-machine-stops-all",
    about: "configures nobody while one machine must not be configured",
    stands: ["W16", "W41", "V20"],
    tests: [tests.references, tests.decide],
    edits: [
      {
        file: `${engine}/procedures/join/plan.ts`,
        find: "if (isStopped.has(declared.name) ||",
        replace: "if (isStopped.size > 0 ||",
      },
    ],
  },
  {
    name: "deletes-what-it-refers-to",
    about: "deletes children that it did not make",
    stands: ["W19"],
    tests: [tests.cluster],
    edits: [
      {
        file: cluster,
        find: "const ownControlPlane = controlPlane !== undefined && isOwnedBy(controlPlane, cluster) ? controlPlane : undefined;",
        replace: "const ownControlPlane = controlPlane;",
      },
    ],
  },
  {
    name: "annotations-wake-nobody",
    about: "does not see that a pause was taken back",
    stands: ["W21"],
    tests: [tests.creation, tests.pauses],
    edits: [
      {
        file: "operator/src/controllers/shared/predicates.ts",
        find: 'return JSON.stringify([{ ...metadata, resourceVersion: "", managedFields: [] }, spec]);',
        replace: 'return JSON.stringify([{ ...metadata, resourceVersion: "", annotations: {}, managedFields: [] }, spec]);',
      },
    ],
  },
  {
    name: "old-record-for-a-new-object",
    about: "takes the record of an object of the same name for its own",
    stands: ["W22"],
    tests: [tests.decide],
    edits: [
      {
        file: `${engine}/gates/adoption.ts`,
        find: "return facts !== undefined && facts.controlPlaneUid !== seen.controlPlane.metadata.uid;",
        replace: "return facts !== undefined && facts.controlPlaneUid === '';",
      },
    ],
  },
  {
    name: "imports-unseen",
    about: "takes a cluster over without comparing its machines with the keys",
    stands: ["W25"],
    tests: [tests.import],
    edits: [
      {
        file: "operator/src/procedures/import/assess.ts",
        find: "blockers.push(...identity(machine, reading, bundle));",
        replace: "if (bundle.fingerprint === '') blockers.push(...identity(machine, reading, bundle));",
      },
    ],
  },
  {
    name: "looks-without-an-end",
    about: "waits an hour for a machine to answer",
    stands: ["W26"],
    tests: [tests.look],
    edits: [
      {
        file: "operator/src/looking/look-at.ts",
        find: "export const LOOK_TIMEOUT_MS = 3_000;",
        replace: "export const LOOK_TIMEOUT_MS = 3_600_000;",
      },
    ],
  },
  {
    name: "refusals-swallowed",
    about: "takes every failure to make an object for done",
    stands: ["W27"],
    tests: [tests.writes],
    edits: [
      {
        file: `${engine}/effects/create-machine.ts`,
        find: "if (!isAlreadyExists(thrown)) throw thrown;",
        replace: "if (isAlreadyExists(thrown)) return;",
      },
    ],
  },
  {
    name: "second-write-skipped",
    about: "makes no record for keys that an earlier process made",
    stands: ["W28"],
    tests: [tests.decide],
    edits: [
      {
        file: keys,
        find: "    const nowhere = endpointWaitsFor(seen);",
        replace: `    if (!seen.sent.has("CreateBundle")) return undefined;
    const nowhere = endpointWaitsFor(seen);`,
      },
    ],
  },
  {
    name: "missing-config-map-read",
    about: "reads a ConfigMap that is not there",
    stands: ["W33"],
    tests: [tests.configRef],
    edits: [
      {
        file: "operator/src/references/config-references.ts",
        find: "      if (object === undefined)\n",
        replace: "      if (object !== undefined && object.data === null)\n",
      },
    ],
  },
  {
    name: "orphaned-for-ever",
    about: "leaves a machine orphaned whose owner is back",
    stands: ["W35"],
    tests: [tests.machine],
    edits: [
      {
        file: "operator/src/projections/machine/decide.ts",
        find: "state: hasOwner ? (",
        replace: 'state: hasOwner && machine.status?.state !== "Orphaned" ? (',
      },
    ],
  },
  {
    name: "fields-ignored",
    about: "accepts fields that have no effect, and says nothing",
    stands: ["W38"],
    tests: [tests.edits],
    edits: [
      {
        file: `${engine}/spec/inert-fields.ts`,
        find: 'if (spec.storageClassName !== undefined) inert.push("spec.storageClassName");',
        replace: "",
      },
    ],
  },
  {
    name: "references-not-watched",
    about: "does not see that an object changed that a machine refers to",
    stands: ["W41"],
    tests: [tests.references],
    edits: [
      {
        file: "operator/src/references/references.ts",
        find: 'informer.subscribe((delta) => changed(id, delta.object, delta.type === "deleted"));',
        replace: "informer.subscribe(() => undefined);",
      },
    ],
  },
  {
    name: "meta-written-again",
    about: "writes META although it holds what is wanted",
    stands: ["W42"],
    tests: [tests.meta],
    edits: [
      {
        file: `${engine}/procedures/configure/meta-plan.ts`,
        find: "if (isThere) return fact.metaHash === wanted.hash ? undefined : learned(",
        replace: "if (isThere) return fact.metaHash === wanted.hash ? { kind: 'change', route: 'meta', config } : learned(",
      },
    ],
  },
  {
    name: "dry-run-without-workers",
    about: "tells of a dry run only what becomes of control planes",
    stands: ["W43"],
    tests: [tests.dryRun],
    edits: [
      {
        file: "operator/src/composition/taloscluster/dry-run.ts",
        find: "const changed = decision.apply.flatMap((child) => {",
        replace: 'const changed = decision.apply.filter((child) => child.kind !== "TalosWorker").flatMap((child) => {',
      },
    ],
  },
  {
    name: "removed-worker-stays",
    about: "leaves the workers of a cluster whose spec names none any more",
    stands: ["W45"],
    tests: [tests.cluster],
    edits: [
      {
        file: cluster,
        find: 'remove: orphan ? [{ kind: "TalosWorker", name: seen.worker.metadata.name }] : [],',
        replace: "remove: orphan && seen.worker.metadata.name === '' ? [{ kind: 'TalosWorker', name: '' }] : [],",
      },
    ],
  },
  {
    name: "silent-machines-keep-their-place",
    about: "lets machines that never answer keep the others waiting, those of other clusters too",
    stands: ["V15"],
    tests: [tests.gate],
    edits: [
      {
        file: "operator/src/looking/look-gate.ts",
        find: "const timer = this.#timers.schedule(LONGEST_STAY_MS, leave);",
        replace: "const timer = { cancel: (): void => this.#timers.schedule(LONGEST_STAY_MS, () => undefined).cancel() };",
      },
    ],
  },
  {
    name: "silent-machines-among-the-others",
    about: "lets looks at machines that were silent take the places of the others",
    stands: ["V15"],
    tests: [tests.gate],
    edits: [
      {
        file: "operator/src/looking/look-gate.ts",
        find: "await (wasSilent ? this.#silent : this.#answering).enter();",
        replace: "await (wasSilent ? this.#answering : this.#answering).enter();",
      },
    ],
  },
  {
    name: "cluster-calls-without-an-end",
    about: "waits as long as it takes for the cluster's own API",
    stands: ["V16"],
    tests: [tests.workload],
    edits: [
      {
        file: "operator/src/workload/cluster-workload.ts",
        find: "const CALL_MS = 5_000;",
        replace: "const CALL_MS = 86_400_000;",
      },
    ],
  },
  {
    name: "one-machine-after-the-other",
    about: "sends the next machine its configuration when the one before has answered",
    stands: ["V19"],
    tests: [tests.first],
    edits: [{ file: `${engine}/effects/configure-machine.ts`, find: "  goesTogether: true,\n", replace: "" }],
  },
  {
    name: "only-ipv4",
    about: "leaves machines without an IPv4 address out",
    stands: ["V29"],
    tests: [tests.addresses],
    edits: [
      {
        file: "api/src/validation/host.ts",
        find: "const four = mappedIpv4(ip);",
        replace:
          'const four = mappedIpv4(ip);\n    if (ip.family === 6 && four === undefined) return { message: "it is no IPv4 address", remedy: "" };',
      },
    ],
  },
];
