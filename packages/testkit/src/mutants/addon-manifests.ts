import type { Mutant } from "./mutant.ts";

const tests = ["testkit/src/stories/addon-manifests.test.ts"];

const worker = "helm/src/manifests";

/** Faults of who applies and prunes objects without a chart. */
export const addonManifestsFaults: readonly Mutant[] = [
  {
    name: "manifests-prune-namespace",
    about: "prunes a Namespace, and all that is in it, although nobody asked for it",
    tests,
    edits: [
      {
        file: `${worker}/removal.ts`,
        find: "return prune && (pruneProtected || !PROTECTED.has(kind));",
        replace: "return prune && kind !== '';",
      },
    ],
  },
  {
    name: "manifests-prune-of-others",
    about: "prunes what was there before, and what somebody took its mark from",
    tests,
    edits: [
      {
        file: `${worker}/removal.ts`,
        find: "if (annotations?.[OWNER_ANNOTATION] !== run.owner) {",
        replace: "if (annotations?.[OWNER_ANNOTATION] === 'nobody') {",
      },
    ],
  },
  {
    name: "manifests-takes-objects",
    about: "applies over an object of another addon",
    tests,
    edits: [
      {
        file: `${worker}/apply-set.ts`,
        find: "if (object === undefined || owner === run.owner || takeOwnership) return true;",
        replace: "if (object === undefined || owner !== undefined || takeOwnership) return true;",
      },
    ],
  },
  {
    name: "manifests-digest-unchecked",
    about: "applies what stands at an address whatever its digest is",
    tests,
    edits: [{ file: `${worker}/read-sources.ts`, find: "if (answer.sha256 !== sha256)", replace: "if (answer.sha256 === '')" }],
  },
  {
    name: "manifests-inventory-afterwards",
    about: "writes down what it made only once all of it is made",
    tests,
    edits: [
      {
        file: `${worker}/apply-set.ts`,
        find: "await run.inventory.write({ entries: union(known, entries), inputs: undefined });",
        replace: "union(known, entries);",
      },
    ],
  },
  {
    name: "manifests-one-field-manager",
    about: "applies all sets under one name, and so takes the fields of other sets away",
    tests,
    edits: [
      { file: `${worker}/set-run.ts`, find: "return `talos-operator-addons/${this.owner}`;", replace: "return `talos-operator-addons`;" },
    ],
  },
  {
    name: "manifests-on-another-cluster",
    about: "applies to the cluster that has the name of the one that the release was made for",
    tests,
    edits: [
      {
        file: "operator/src/controllers/talosclusteraddonrelease/cluster-of.ts",
        find: 'uid !== undefined && kind !== "TalosCluster" && uid !== controlPlane.metadata.uid;',
        replace: 'uid === "" && kind !== "TalosCluster";',
      },
    ],
  },
  {
    name: "manifests-once-again",
    about: "applies once more what was to be applied once",
    tests,
    edits: [
      {
        file: "operator/src/controllers/talosclusteraddonrelease/manifests.ts",
        find: 'spec.manifests === undefined || spec.manifests.mode === "Once" || Number.isNaN(last)',
        replace: "spec.manifests === undefined || Number.isNaN(last)",
      },
      { file: `${worker}/apply-set.ts`, find: "if (task.isOnce && before?.inputs === task.inputs)", replace: "if (task.inputs === '')" },
    ],
  },
];
