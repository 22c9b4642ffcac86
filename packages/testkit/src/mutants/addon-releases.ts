import type { Mutant, SourceEdit } from "./mutant.ts";

const workload = "addons";
const stories = ["testkit/src/stories/addon-releases.test.ts"];

const edit = (file: string, find: string, replace: string): SourceEdit => ({
  file: `operator/src/controllers/talosclusteraddonrelease/${file}.ts`,
  find,
  replace,
});

/** Faults of who decides when Helm is run for a release. */
export const addonReleaseFaults: readonly Mutant[] = [
  {
    name: "addon-on-paused-cluster",
    about: "installs in a cluster that is paused (S31)",
    tests: stories,
    edits: [
      edit(
        "cluster-of",
        "const paused = pauseOf(controlPlane, caches.talosClusters.store);",
        "const paused = undefined as string | undefined;",
      ),
    ],
  },
  {
    name: "addon-pause-by-the-watch",
    about: "learns from its watch alone that a cluster was paused (S31)",
    tests: stories,
    edits: [edit("controller", "if (!(await isOpenNow(key.namespace, seen.cluster, client)))", "if (seen.cluster.kind === 'absent')")],
  },
  {
    name: "addon-left-because-of-a-pause",
    about: "leaves a release behind in a cluster that was paused for ten minutes",
    tests: stories,
    edits: [
      edit(
        "decide",
        'const since = Date.parse(status.uninstallStartTime ?? "");',
        'const since = Date.parse(release.metadata.deletionTimestamp ?? "");',
      ),
    ],
  },
  {
    name: "addon-dry-run-installs",
    about: "does what the spec asks for while the reconcile-mode is dryrun (W8)",
    tests: ["testkit/src/stories/addon-dry-run.test.ts"],
    edits: [edit("controller", 'if (run.task === "preview") {', 'if (run.task === "preview" && wish.inputs === "") {')],
  },
  {
    name: "addon-dry-run-every-pass",
    about: "asks Helm anew in every pass of a dry run",
    tests: ["testkit/src/stories/addon-dry-run.test.ts"],
    edits: [edit("preview", "preview?.inputs === wish.inputs &&", "preview?.inputs === wish.asked &&")],
  },
  {
    name: "addon-dry-run-tells-secrets",
    about: "tells values of Secrets in what a dry run finds (S9)",
    tests: ["helm/src/worker/changes.test.ts"],
    edits: [{ file: "helm/src/worker/hide.ts", find: '.filter(({ kind }) => kind === "Secret")', replace: ".filter(() => false)" }],
  },
  {
    name: "addon-dry-run-tells-what-is-made-of-secrets",
    about: "tells what a chart makes of values of Secrets (S9)",
    tests: ["helm/src/worker/changes.test.ts"],
    edits: [
      {
        file: "helm/src/worker/changes.ts",
        find: "const isPublic = JSON.stringify(twin) === is;",
        replace: "const isPublic = JSON.stringify(twin) !== '' || is === '';",
      },
    ],
  },
  {
    name: "addon-dry-run-left-at-work",
    about: "leaves a worker at work whose dry run is over",
    tests: ["testkit/src/stories/addon-dry-run.test.ts"],
    edits: [edit("decide", 'if (run?.task === "preview")', 'if (run?.task === "preview" && seen.run?.kind === "ended")')],
  },
  {
    name: "addon-lock-never-released",
    about: "forgets which runs have ended: a lock that one of them left stays for ever (Li1)",
    workload,
    edits: [edit("controller", "endedRuns: fields.endedRuns ?? [],", "endedRuns: [],")],
  },
  {
    name: "addon-run-without-its-word",
    about: "starts a run before it stands in the status: after a crash nobody knows it (AD2, O8)",
    tests: stories,
    edits: [
      edit(
        "controller",
        "const again = await tellIt(release, decision);\n        if (again !== undefined) return { requeueAfterMs: again };\n        await start(release, run, input);",
        "await start(release, run, input);\n        const again = release.metadata.name === 'web' ? undefined : await tellIt(release, decision);\n        if (again !== undefined) return { requeueAfterMs: again };",
      ),
    ],
  },
  {
    name: "addon-same-inputs-again",
    about: "runs Helm again for what is installed already",
    workload,
    edits: [
      edit(
        "decide",
        "const isThere = status?.inputs === wish.inputs ||",
        "const isThere = (status?.inputs === wish.inputs && status.attempts === 0) ||",
      ),
    ],
  },
  {
    name: "addon-three-at-once",
    about: "runs as many workers at once as there are releases (O8)",
    workload,
    edits: [edit("turns", "const RUNS_AT_ONCE = 2;", "const RUNS_AT_ONCE = 200;")],
  },
  {
    name: "addon-finalizer-before-uninstall",
    about: "lets a release go that is still installed",
    workload,
    edits: [edit("decide", 'if (told?.kind === "uninstalled")', 'if (run?.task === "uninstall" && seen.run?.kind !== "running")')],
  },
  {
    name: "addon-success-of-no-result",
    about: "takes a worker that told nothing for one that did its work (AD1)",
    workload,
    edits: [
      edit(
        "decide",
        "if (now < nextAt && nextAt - now <= HOPELESS_RETRY_MS) {",
        'if (status.failedInputs === wish.inputs && findCondition(status.conditions, "Ready")?.reason === "HelmClientFailed")\n    return { ...installed(seen), fields: { ...fieldsOf(release), inputs: wish.inputs } };\n  if (now < nextAt && nextAt - now <= HOPELESS_RETRY_MS) {',
      ),
    ],
  },
  {
    name: "addon-values-in-status",
    about: "repeats the values of a Secret in the status (S9)",
    stands: ["W31"],
    workload,
    edits: [
      edit(
        "controller",
        "const again = await tellIt(release, decision);\n        if (again !== undefined) return { requeueAfterMs: again };\n        await start(",
        "options.log.info({ values: wish?.values }, 'Values');\n        const again = await tellIt(release, decision);\n        if (again !== undefined) return { requeueAfterMs: again };\n        await start(",
      ),
    ],
  },
  {
    name: "addon-dependency-not-waited-for",
    about: "installs beside what it depends on",
    tests: stories,
    edits: [edit("decide", "if (first !== undefined && !wasInstalled(release))", "if (first === '' && !wasInstalled(release))")],
  },
  {
    name: "addon-rollback-repeated",
    about: "goes back once more after every edit, for as long as the annotation stands",
    tests: stories,
    edits: [edit("rollback", "const isDone = asked === release.status?.rolledBack?.to;", "const isDone = asked === undefined;")],
  },
  {
    name: "addon-unknown-revision-repeated",
    about: "asks Helm again and again for a revision that it has not",
    tests: stories,
    edits: [
      edit("rollback", "...(revision === undefined ? {} : { to: revision })", "...(revision === undefined ? {} : { to: revision + 1 })"),
    ],
  },
  {
    name: "addon-rollback-undone",
    about: "installs at once what a person went back from",
    tests: stories,
    edits: [edit("rollback", "return status?.rolledBack?.from === inputs;", "return status?.rolledBack?.from === `${inputs}-`;")],
  },
  {
    name: "addon-failed-edit-forgotten",
    about: "takes what was installed before an edit that failed for whole once the edit is taken back",
    tests: stories,
    edits: [edit("decide", 'return told?.history?.[0]?.status !== "deployed";', "return false;")],
  },
  {
    name: "addon-renamed-orphan",
    about: "installs a release anew under another name, and forgets the one before",
    tests: stories,
    edits: [
      {
        file: "operator/src/addons/validate-release.ts",
        find: "if (installed !== undefined && installed !==",
        replace: "if (installed === '' && installed !==",
      },
    ],
  },
  {
    name: "addon-moves-to-another-cluster",
    about: "takes what is installed in one cluster for installed in another one",
    tests: stories,
    edits: [
      edit("decide", 'return installedIn !== undefined && cluster.kind !== "absent" && cluster.name !== installedIn;', "return false;"),
    ],
  },
];
