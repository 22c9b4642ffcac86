import type { Mutant, SourceEdit } from "./mutant.ts";

const releases = ["testkit/src/stories/addon-releases.test.ts"];
const addons = ["testkit/src/stories/addons.test.ts"];
const decisions = ["operator/src/controllers/talosclusteraddon/decide.test.ts"];
const jobs = ["operator/src/workers/job.test.ts", "operator/src/addons/job-runner.test.ts"];
const worker = ["helm/src/worker/run-task.test.ts"];

const ofRelease = (name: string): readonly string[] => [`operator/src/controllers/talosclusteraddonrelease/${name}.test.ts`];

const edit = (file: string, find: string, replace: string): SourceEdit => ({ file: `${file}.ts`, find, replace });
const release = (file: string, find: string, replace: string): SourceEdit =>
  edit(`operator/src/controllers/talosclusteraddonrelease/${file}`, find, replace);
const addon = (file: string, find: string, replace: string): SourceEdit =>
  edit(`operator/src/controllers/talosclusteraddon/${file}`, find, replace);
const helm = (file: string, find: string, replace: string): SourceEdit => edit(`helm/src/worker/${file}`, find, replace);

/** Faults of addons, thought of by somebody who had read no test of them. */
export const independentAddonFaults: readonly Mutant[] = [
  {
    name: "addon-retries-never-slow-down",
    about: "tries every fifteen seconds for ever what fails each time",
    tests: ofRelease("decide"),
    edits: [release("decide", "(RETRY_MS[Math.min(attempts, RETRY_MS.length) - 1] ?? HOPELESS_RETRY_MS)", "RETRY_MS[0]")],
  },
  {
    name: "addon-hopeless-tried-at-once",
    about: "tries as often what only a person changes: a chart that does not exist",
    tests: ofRelease("decide"),
    edits: [release("decide", "const pauseMs = failure.mayRepeat ?", "const pauseMs = failure.message !== '' ?")],
  },
  {
    name: "addon-edit-waits-for-the-last-retry",
    about: "an edit that puts it right waits for the next try of what was wrong",
    tests: releases,
    edits: [
      release(
        "decide",
        'const nextAt = isSame ? Date.parse(status.nextAttemptTime ?? "") : Number.NaN;',
        'const nextAt = Date.parse(status.nextAttemptTime ?? "");',
      ),
    ],
  },
  {
    name: "addon-deletion-held-by-its-cluster",
    about: "a cluster that does not answer holds up deletion for ever",
    tests: ofRelease("decide"),
    edits: [release("decide", "if (now - since >= REMOVAL_MS)", "if (now - since >= REMOVAL_MS && cluster.kind !== 'present')")],
  },
  {
    name: "addon-elsewhere-uninstalled",
    about: "asks the cluster that the spec names by now, finds nothing there, and tells that it is uninstalled",
    tests: ofRelease("decide"),
    edits: [
      release(
        "decide",
        'if (isElsewhere(seen))\n    return letGo("AddonLeft"',
        'if (isElsewhere(seen) && status.revision === -1)\n    return letGo("AddonLeft"',
      ),
    ],
  },
  {
    name: "addon-uninstalls-from-a-cluster-that-goes",
    about: "uninstalls network and storage from a cluster while its machines are drained",
    tests: ofRelease("decide"),
    edits: [
      release(
        "decide",
        'if (cluster.kind === "absent" || cluster.kind === "going")\n    return letGo',
        'if (cluster.kind === "absent")\n    return letGo',
      ),
    ],
  },
  {
    name: "addon-installs-from-a-namespace-that-goes",
    about: "installs out of a namespace that is being deleted",
    tests: ofRelease("decide"),
    edits: [release("decide", "if (seen.isTerminating) return", "if (seen.isTerminating && cluster.kind === 'absent') return")],
  },
  {
    name: "addon-resolved-version-not-kept",
    about: "an edit of the values brings the newest chart along, though no version was asked for anew",
    tests: releases,
    edits: [release("decide", "...optional, asked }", "...optional, asked: '' }")],
  },
  {
    name: "addon-ended-runs-left",
    about: "leaves Jobs of ended runs, and their Secrets with an access to the cluster",
    tests: releases,
    edits: [
      release(
        "controller",
        "await tidyUp(key, runs, decision.fields.run?.name);",
        "await tidyUp(key, runs.filter(({ hasEnded }) => !hasEnded), decision.fields.run?.name);",
      ),
    ],
  },
  {
    name: "addon-ends-runs-of-namesakes",
    about: "ends what is being installed for a release of the same name in another namespace",
    tests: releases,
    edits: [release("controller", ' && owner.namespace === (key.namespace ?? ""));', ");")],
  },
  {
    name: "addon-begins-without-the-lead",
    about: "a process that lost the lease starts a run beside the one of its successor",
    tests: releases,
    edits: [release("controller", "await demandLead(leading);", "")],
  },
  {
    name: "addon-unready-looked-at-rarely",
    about: "says for a quarter of an hour that pods are not ready which have been for long",
    tests: ["testkit/src/stories/cni-first.test.ts"],
    edits: [release("controller", "lookAgainMs: waiting.length === 0 ? atRest() : UNREADY_LOOK_MS", "lookAgainMs: atRest()")],
  },
  {
    name: "addon-one-pod-is-enough",
    about: "one ready pod of three is Ready",
    tests: ofRelease("health"),
    edits: [release("health", "return there < wanted ?", "return there < 1 && wanted > 0 ?")],
  },
  {
    name: "addon-believes-old-counts",
    about: "counts pods of the revision before, whose controller has not seen the new one yet",
    tests: ofRelease("health"),
    edits: [
      release("health", "if (count(status.observedGeneration) < count(metadata.generation))", "if (status.observedGeneration === -1)"),
    ],
  },
  {
    name: "addon-values-of-another-namespace",
    about: "reads Secrets of the namespace that the chart is to go to",
    tests: ofRelease("read-values"),
    edits: [
      release(
        "read-values",
        "? await readKey({ name, key, ...(optional === undefined ? {} : { optional }) }, namespace, client)",
        "? await readKey({ name, key, ...(optional === undefined ? {} : { optional }) }, helm.namespace ?? namespace, client)",
      ),
    ],
  },
  {
    name: "addon-values-turned-around",
    about: "what other objects hold comes before the template, which then wins",
    tests: ofRelease("read-values"),
    edits: [release("read-values", "documents.push(text.value);", "documents.unshift(text.value);")],
  },
  {
    name: "addon-drift-more-often-than-asked",
    about: "compares more than once an interval",
    tests: ofRelease("drift"),
    edits: [release("drift", "intervalMs * (1 + JITTER * fraction)", "intervalMs * (1 - JITTER * fraction)")],
  },
  {
    name: "addon-access-ends-before-the-run",
    about: "the access to the cluster expires in the middle of a long installation",
    tests: ["operator/src/addons/kubeconfig.test.ts"],
    edits: [edit("operator/src/addons/kubeconfig", "lifetimeMs: BACKDATE_MS + forMs + SPARE_MS,", "lifetimeMs: BACKDATE_MS + SPARE_MS,")],
  },
  {
    name: "addon-record-of-an-earlier-cluster",
    about: "goes by what is written down about an earlier cluster of that name, its keys and its endpoint",
    tests: ofRelease("cluster-of"),
    edits: [
      release("cluster-of", "if (facts === undefined || facts.controlPlaneUid !== controlPlane.metadata.uid)", "if (facts === undefined)"),
    ],
  },
  {
    name: "addon-reference-without-its-namespace",
    about: "takes the cluster of its own namespace for the one of another namespace that its reference names",
    tests: ofRelease("cluster-of"),
    edits: [release("cluster-of", "if (namespace !== metadata.namespace)\n", "if (namespace === '')\n")],
  },
  {
    name: "addon-namespace-labels-never-change",
    about: "an edit of the labels of the namespace reaches no cluster",
    tests: ["operator/src/addons/wish.test.ts"],
    edits: [edit("operator/src/addons/wish", "settingsOf(options), spec.namespaceLabels ?? {}, minor]", "settingsOf(options), minor]")],
  },
  {
    name: "addon-atomic-without-network",
    about: "rolls the first addons back because their pods wait for the network, which waits for its turn",
    tests: ofRelease("without-network"),
    edits: [release("without-network", "atomic: _atomic, ...others }", "...others }")],
  },
  {
    name: "addon-grant-by-prefix",
    about: "a namespace that grants addons of dev gets those of developer-7, too",
    tests: ["operator/src/controllers/talosclusteraddon/selection.test.ts"],
    edits: [
      addon(
        "selection",
        '(addonNamespace !== "" && names.includes(addonNamespace))',
        'names.some((name) => name !== "" && addonNamespace.startsWith(name))',
      ),
    ],
  },
  {
    name: "addon-removes-what-was-handed-over",
    about: "removes a release that has become another addon's since it was looked at",
    tests: addons,
    edits: [addon("controller", "if (!isOurs(live, addon)) return false;", "")],
  },
  {
    name: "addon-dependencies-walked-for-ever",
    about: "two other addons that depend on each other hang the decision about a third one",
    tests: decisions,
    edits: [addon("decide", "if (asked.has(next)) continue;", "")],
  },
  {
    name: "addon-leaves-releases-of-other-namespaces",
    about: "leaves its releases in other namespaces behind when it is deleted",
    tests: addons,
    edits: [addon("controller", "namespaces === undefined ? { items: [] } : made.list({ labelSelector }),", "{ items: [] },")],
  },
  {
    name: "addon-writes-over-what-changed",
    about: "writes over what somebody else wrote to a release in between",
    tests: ["operator/src/controllers/talosclusteraddon/compose.test.ts"],
    edits: [
      addon(
        "compose",
        'return [{ op: "replace", path: "/metadata/resourceVersion", value: from.metadata.resourceVersion ?? "" }, ...operations];',
        "return operations;",
      ),
    ],
  },
  {
    name: "addon-job-with-a-token",
    about: "gives the pod of a worker a token of the management cluster's API",
    tests: jobs,
    edits: [edit("operator/src/workers/job", "automountServiceAccountToken: false", "automountServiceAccountToken: true")],
  },
  {
    name: "addon-job-begun-by-halves",
    about: "a Job whose Secret was never made waits until its time is over",
    tests: jobs,
    edits: [edit("operator/src/workers/job-runner", '=== undefined ? { kind: "absent" } : state;', "=== undefined ? state : state;")],
  },
  {
    name: "addon-deletes-a-secret-of-others",
    about: "deletes the Secret of somebody else that has the name of a run",
    tests: jobs,
    edits: [
      edit(
        "operator/src/workers/job-runner",
        "if (secret !== undefined && secret.metadata.labels?.[labels.component] === kind.component) await deleteExactly(secrets, secret);",
        "if (secret !== undefined) await deleteExactly(secrets, secret);",
      ),
    ],
  },
  {
    name: "helm-lock-of-a-living-run",
    about: "releases the lock of a run that is still at work",
    tests: worker,
    edits: [helm("ownership", "if (newest.run === undefined || !endedRuns.includes(newest.run))", "if (newest.run === undefined)")],
  },
  {
    name: "helm-lock-of-a-person",
    about: "takes the lock that a person's helm left on a release of ours for one of its own",
    tests: worker,
    edits: [helm("releases", "isInherited ? undefined : revision.run;", "revision.run;")],
  },
  {
    name: "helm-uninstalls-others",
    about: "uninstalls the release of another addon that has the same name",
    tests: worker,
    edits: [helm("uninstall", "newest === undefined || newest.owner !== owner ||", "newest === undefined ||")],
  },
  {
    name: "helm-upgrades-others",
    about: "upgrades the release of another addon, and is its owner from then on",
    tests: worker,
    edits: [helm("ownership", "if (newest.owner !== undefined)\n", "if (newest.owner === '')\n")],
  },
  {
    name: "helm-digest-not-compared",
    about: "installs an archive with another digest than the one that is pinned",
    tests: worker,
    edits: [helm("fetch-chart", "if (chart.digest !== undefined && chart.digest !== digest)", "if (chart.digest === '')")],
  },
  {
    name: "helm-password-among-arguments",
    about: "gives the password of a repository as an argument, which every process of the Node may read",
    tests: worker,
    edits: [
      helm(
        "fetch-chart",
        '"repo", "add", "addon", chart.repository, `--username=${user}`, "--password-stdin"',
        '"repo", "add", "addon", chart.repository, `--username=${user}`, `--password=${access.password}`',
      ),
    ],
  },
  {
    name: "helm-drift-never-taken-back",
    about: "finds the drifted revision done, since it was made of the same inputs",
    tests: worker,
    edits: [helm("apply", " && newest.number > (task.beyond ?? 0);", ";")],
  },
  {
    name: "helm-quotes-short-secrets",
    about: "repeats what a value of a Secret holds in the message of a failure",
    tests: ["helm/src/worker/classify.test.ts"],
    edits: [helm("classify", "if (secret.length >= 4) text", "if (secret.length >= 40) text")],
  },
  {
    name: "helm-nested-values-quoted",
    about: "keeps only the outermost values of a Secret out of messages",
    tests: ["helm/src/worker/texts-of-values.test.ts"],
    edits: [
      helm(
        "texts-of-values",
        "for (const one of Object.values(value)) collect(one);",
        "if (Array.isArray(value)) for (const one of value) collect(one);",
      ),
    ],
  },
  {
    name: "helm-rolls-back-what-stands",
    about: "goes back from a revision that is deployed because its run failed afterwards",
    tests: worker,
    edits: [helm("apply", ' || newest.status === "deployed")', ")")],
  },
];

/** Faults that attacks on addons found, planted anew: who took the mending away is told. */
export const attackedAddonFaults: readonly Mutant[] = [
  {
    name: "addon-misspelt-for-ever",
    about: "keeps the name of a chart that does not exist, and refuses the one that does",
    tests: releases,
    edits: [
      release("kept-name", "const hasNothing = told?.history?.length === 0 &&", "const hasNothing = told?.history?.length === -1 &&"),
    ],
  },
  {
    name: "addon-run-of-an-earlier-spec",
    about: "starts with what the spec says now a run that was begun for what it said before",
    tests: ofRelease("decide"),
    edits: [
      release(
        "decide",
        'return task === "apply" && wish.kind === "there" && wish.wish.inputs !== inputs;',
        "return task === inputs && wish.kind === 'there';",
      ),
    ],
  },
  {
    name: "addon-paused-release-uninstalled",
    about: "uninstalls a release that is paused",
    tests: releases,
    edits: [release("controller", 'return seen.kind !== "absent" && seen.kind !== "going";', "return seen.kind === 'paused';")],
  },
  {
    name: "addon-shortened-time-out-ends-a-run",
    about: "ends a run in the middle because the time-out of its spec was edited",
    tests: ofRelease("decide"),
    edits: [release("time-of-run", "return giveUpTime === undefined ? otherwise :", "return giveUpTime !== '' ? otherwise :")],
  },
  {
    name: "addon-all-ask-a-dead-cluster",
    about: "asks a cluster that does not answer for each of its releases at once, and those of others wait",
    tests: ofRelease("looks"),
    edits: [release("looks", "if (one.begin === undefined || busy.has(one.place)) continue;", "if (one.begin === undefined) continue;")],
  },
  {
    name: "addon-both-turns-for-one-namespace",
    about: "lets hooks that never end hold up the addons of every other namespace",
    tests: ofRelease("turns"),
    edits: [release("turns", "if (taskMs > LONG_MS)\n", "if (taskMs > 100 * LONG_MS)\n")],
  },
  {
    name: "helm-manifest-read-as-one",
    about: "an object that Helm takes and this reader does not fails what is installed, for ever",
    tests: worker,
    edits: [helm("objects-in", "manifest.split(/^---[ \\t]*$/m).map(documentsOf);", "[manifest].map(documentsOf);")],
  },
  {
    name: "workload-answers-without-end",
    about: "reads whatever a cluster sends into the memory of the manager",
    tests: ["kube-runtime/src/adapters/workload-dialer.test.ts"],
    edits: [edit("kube-runtime/src/adapters/workload-dialer", "const MOST_BYTES = 32 * 2 ** 20;", "const MOST_BYTES = 2 ** 40;")],
  },
];
