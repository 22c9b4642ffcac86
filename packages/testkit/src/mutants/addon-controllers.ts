import type { Mutant, SourceEdit } from "./mutant.ts";

const decisions = ["operator/src/controllers/talosclusteraddon/decide.test.ts"];
const stories = ["testkit/src/stories/addons.test.ts"];

const edit = (file: string, find: string, replace: string): SourceEdit => ({
  file: `operator/src/controllers/talosclusteraddon/${file}.ts`,
  find,
  replace,
});

/** Faults of who decides which clusters an addon is installed on, and whose a release is. */
export const addonControllerFaults: readonly Mutant[] = [
  {
    name: "addon-touches-others",
    about: "takes releases of other addons for its own, and uninstalls those it does not select (W12)",
    stands: ["W12"],
    tests: decisions,
    edits: [
      edit("seen", 'return belonging === "own" || belonging === "published" || belonging === "named";', 'return belonging !== "nobody";'),
    ],
  },
  {
    name: "addon-empty-selects-all",
    about: "an empty selector hits every cluster (W31)",
    stands: ["W31"],
    tests: decisions,
    edits: [edit("selection", 'if (demands.length === 0) return { kind: "empty" };', "")],
  },
  {
    name: "addon-owner-across-namespaces",
    about: "makes itself the owner of a release in another namespace, which is collected as garbage (W31)",
    stands: ["W31"],
    tests: decisions,
    edits: [edit("compose", "const isSameNamespace = namespace === addon.metadata.namespace;", "const isSameNamespace = true;")],
  },
  {
    name: "addon-release-of-gone-cluster",
    about: "keeps the release of a cluster that is gone for ever (W31)",
    stands: ["W31"],
    tests: decisions,
    edits: [edit("decide", "if (view.clusterOf(release) !== undefined) return false;", "if (release !== undefined) return false;")],
  },
  {
    name: "addon-without-release-name",
    about: "takes an empty name of a Helm release for a name (W31)",
    stands: ["W31"],
    tests: decisions,
    edits: [edit("helm-release", 'releaseName === undefined || releaseName === "" ? chartName', "releaseName === undefined ? chartName")],
  },
  {
    name: "addon-refusal-ends-pass",
    about: "one release that is refused holds up all others (W31)",
    stands: ["W31"],
    tests: stories,
    edits: [edit("controller", "else if (isRefusedWrite(thrown)) refusals", "else if (isRefusedWrite(thrown) && name === '') refusals")],
  },
  {
    name: "addon-reads-across-namespaces",
    about: "lets an addon of one namespace read the Secrets of another one",
    tests: decisions,
    edits: [
      edit(
        "seen",
        "return controlPlane.metadata.namespace === addon.metadata.namespace ? [] :",
        "return controlPlane.metadata.name !== '' ? [] :",
      ),
    ],
  },
  {
    name: "addon-ungranted-namespace",
    about: "installs into clusters of namespaces that do not grant it",
    tests: decisions,
    edits: [edit("seen", "if (namespace !== own && !grants(view.seen.namespaces.get(namespace), own)) return false;", "")],
  },
  {
    name: "addon-uninstalls-by-old-labels",
    about: "uninstalls by what a watch that stands still shows",
    tests: stories,
    edits: [
      edit(
        "controller",
        'if (why === "cluster-gone" ? cluster !== undefined : cluster === undefined || selects(view, addon, cluster)) return false;',
        "",
      ),
    ],
  },
  {
    name: "addon-deselect-uninstalls",
    about: "uninstalls where a cluster is not selected any more although nobody asked for it",
    tests: decisions,
    edits: [
      edit(
        "decide",
        'const isUninstalling = addon.spec.onDeselect === "uninstall";',
        'const isUninstalling = addon.spec.onDeselect !== "keep";',
      ),
    ],
  },
  {
    name: "addon-gone-before-releases",
    about: "does not wait for its releases when it is deleted",
    tests: stories,
    edits: [
      edit("controller", "if (ours.length === 0) {", "if (ours.every(({ metadata }) => metadata.deletionTimestamp !== undefined)) {"),
    ],
  },
  {
    name: "addon-paused-uninstalls",
    about: "a paused addon that is deleted takes its releases along (W8)",
    stands: ["W8"],
    tests: stories,
    edits: [
      edit(
        "controller",
        'if (mode !== "reconcile") return',
        'if (mode !== "reconcile" && addon.metadata.deletionTimestamp === undefined) return',
      ),
    ],
  },
  {
    name: "addon-orphans-uninstalled",
    about: "uninstalls what --cascade=orphan is to leave",
    tests: stories,
    edits: [edit("controller", "if (isBeingOrphaned(addon.metadata)) {", "if (addon.metadata.name === '') {")],
  },
  {
    name: "addon-one-release-twice",
    about: "two addons take turns at one Helm release (W12)",
    stands: ["W12"],
    tests: decisions,
    edits: [edit("decide", "if (first !== undefined && !first.isOurs)", "if (first?.who === '')")],
  },
  {
    name: "addon-edit-takes-release",
    about: "an edit takes the Helm release of a younger addon away",
    tests: decisions,
    edits: [edit("claims", "a.stage - b.stage || compare(a.since, b.since)", "compare(a.since, b.since) || a.stage - b.stage")],
  },
  {
    name: "addon-excluded-by-one-object",
    about: "what a selector excludes counts only where no object of the cluster is without the label",
    tests: decisions,
    edits: [edit("selection", "(labels) => !positive(labels)", "(labels) => labels.some((one) => !positive([one]))")],
  },
  {
    name: "addon-adopts-by-name",
    about: "takes over any release that a person made by its name, whatever it is of",
    tests: decisions,
    edits: [edit("decide", "release.spec.helmSpec?.chartName === helmSpecOf(addon)?.chartName &&", "")],
  },
  {
    name: "addon-release-of-earlier-cluster",
    about: "takes the release of an earlier cluster of that name for that of the one that is there (W22)",
    stands: ["W22"],
    tests: decisions,
    edits: [edit("seen", 'uid !== "" && uid !== controlPlane.metadata.uid;', 'uid !== "" && uid === "";')],
  },
  {
    name: "addon-published-adopted-not",
    about: "an addon of the published operator with an empty selector loses what it installed",
    tests: stories,
    edits: [edit("compose", '...(isPublished ? { [annotations.addonAdopted]: "published" } : {}),', "")],
  },
  {
    name: "addon-made-before-finalizer",
    about: "makes releases that nobody takes back when the addon goes",
    tests: stories,
    edits: [edit("controller", "decision.create.length + decision.fit.length > 0 ? await hold(addon) : addon;", "addon;")],
  },
];
