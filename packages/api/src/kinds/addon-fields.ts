import { boolean, integer, list, object, oneOf, required, string, stringMap } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";
import { manifestsStatusField } from "./manifests-spec.ts";

const time = (description: string) => string({ description, format: "date-time" });

const drift = object(
  {
    mode: oneOf(["off", "report", "revert"], {
      description:
        "What is done about fields that Helm set and somebody else changed, and objects that are gone: nothing, they are named in the condition Drifted, or a revision with the same inputs takes them back as well. Default: off.",
    }),
    interval: string({
      description: "How far comparisons are apart, as Go writes durations, 1h to 720h; up to a tenth comes on top. Default: 6h.",
    }),
    ignore: list(string({ description: "A path, with all below it.", minLength: 1, maxLength: 200 }), {
      description: "Paths that may differ in any object, such as spec.replicas where a HorizontalPodAutoscaler sets it.",
      listType: "atomic",
      maxItems: 32,
    }),
  },
  { description: "Changes by others to what Helm deployed. What Helm did not set is never looked at: defaults, what others inject." },
);

/** What a release takes over from its addon, beside the chart. */
export const addonPolicyFields = {
  namespaceLabels: stringMap({
    description:
      "Labels that the release's namespace gets before anything is installed. Talos enforces the level baseline: what needs more says pod-security.kubernetes.io/enforce: privileged here.",
  }),
  drift,
  rollback: oneOf(["none", "lastGood"], {
    description: "What follows a failed upgrade: lastGood goes back to the newest revision that was deployed. Default: none.",
  }),
};

const revision = object(
  {
    revision: required(integer({ description: "Number of the revision.", minimum: 1 })),
    status: required(string({ description: "Status as Helm reports it: deployed, superseded, failed." })),
    chartVersion: required(string({ description: "Version of the chart." })),
    appVersion: string({ description: "Version of what the chart installs." }),
    deployedAt: required(time("When.")),
  },
  { description: "A revision of the release." },
);

/** A revision of a release. */
export interface AddonRevision extends Infer<typeof revision> {}

const chart = object(
  {
    name: required(string({ description: "Name of the chart." })),
    version: required(string({ description: "Its version." })),
    appVersion: string({ description: "Version of what it installs." }),
    digest: string({ description: "SHA-256 of the archive, 64 hex digits. Absent where a person went back to another version." }),
    kubeVersion: string({ description: "Versions of Kubernetes that the chart allows." }),
    asked: required(
      string({ description: "Hash of repository, name and version that were asked for: while it is the same, the version stays." }),
    ),
  },
  { description: "The chart that was resolved." },
);

/** The chart that was resolved. */
export interface AddonChart extends Infer<typeof chart> {}

const run = object(
  {
    name: required(string({ description: "Name of the Job, or of the child process." })),
    id: required(string({ description: "This run; the revision that it makes bears it as a label." })),
    task: required(oneOf(["apply", "rollback", "uninstall", "inspect", "preview"], { description: "What it does." })),
    inputs: string({ description: "Hash of what the spec asks for." }),
    revision: integer({ description: "Of a rollback: the revision that it goes back to.", minimum: 1 }),
    beyond: integer({ description: "Of an apply that corrects drift: the revision that drifted.", minimum: 1 }),
    startedAt: required(time("When it was begun.")),
    giveUpTime: time("When it is given up, whatever the time-out of the spec is by then."),
  },
  { description: "The run that is open. Absent when none is." },
);

/** The run that is open. */
export interface AddonRun extends Infer<typeof run> {}

const rolledBack = object(
  {
    to: integer({ description: "The revision that the annotation rollback-to named, which is carried out once.", minimum: 1 }),
    from: string({ description: "Hash of what the spec asked for then: it is not installed until the spec asks for something else." }),
    problem: string({ description: "Why nothing was gone back to. Absent when it was." }),
  },
  { description: "What a person asked for by the annotation rollback-to." },
);

const driftFound = object(
  {
    checkTime: time("When what runs was last compared."),
    nextCheckTime: time("When it is compared again."),
    total: integer({ description: "Objects that are not as Helm deployed them.", minimum: 0 }),
    objects: list(string({ description: "An object and its paths." }), {
      description: "Those, at most 5; names and paths, no values.",
      listType: "atomic",
    }),
    beyond: integer({ description: "The revision that is to be corrected. Absent when none is.", minimum: 1 }),
    problem: string({ description: "Why it could not be compared." }),
  },
  { description: "What differed from the manifest of the newest revision when it was last compared." },
);

/** What differed when it was last compared. */
export interface AddonDrift extends Infer<typeof driftFound> {}

const preview = object(
  {
    inputs: required(string({ description: "Hash of what the spec asked for then." })),
    checkTime: required(time("When Helm was asked.")),
    chart: string({ description: "The chart and its version." }),
    total: integer({ description: "Objects that would be made, changed or deleted.", minimum: 0 }),
    changes: list(string({ description: "An object, and of its fields the new values; none of a Secret." }), {
      description: "Those, as many as there is room for.",
      listType: "atomic",
    }),
    problem: string({ description: "Why that is not known." }),
  },
  { description: "What a dry run found. Absent without the annotation reconcile-mode: dryrun." },
);

/** What a dry run found. */
export interface AddonPreview extends Infer<typeof preview> {}

const workload = object(
  {
    kind: required(oneOf(["Deployment", "DaemonSet", "StatefulSet", "Job"], { description: "Kind." })),
    namespace: required(string({ description: "Namespace." })),
    name: required(string({ description: "Name." })),
  },
  { description: "An object of the release that runs pods." },
);

/** Status of a release beside its conditions. */
export const releaseFactFields = {
  revision: integer({ description: "Newest revision that is deployed.", minimum: 0 }),
  chart,
  lastDeployed: time("When the newest revision was deployed."),
  inputs: string({ description: "Hash of what the newest revision was made of. While it is the same, no other is made." }),
  failedInputs: string({ description: "Hash of what was last tried without success." }),
  attempts: integer({ description: "Tries with these inputs that failed.", minimum: 0 }),
  nextAttemptTime: time("When the next try begins. Absent when none is waited for."),
  uninstallStartTime: time("When its removal began to be tried. After ten minutes the release is left in its cluster."),
  history: list(revision, { description: "The newest revisions, at most 10.", listType: "atomic" }),
  run,
  endedRuns: list(string({ description: "A run." }), {
    description: "Runs that have ended, the newest 8: a lock that one of them left is released.",
    listType: "atomic",
  }),
  rolledBack,
  objects: integer({ description: "Objects of the newest revision.", minimum: 0 }),
  workloads: list(workload, {
    description: "Those that run pods, at most 20: their readiness is the health of the release.",
    listType: "atomic",
  }),
  readyWorkloads: integer({ description: "How many of them are ready.", minimum: 0 }),
  helmVersion: string({ description: "Version of Helm that was last at work." }),
  isAdopted: boolean({ description: "True when the release was there before, without an owner, and was taken over." }),
  manifests: manifestsStatusField,
  drift: driftFound,
  preview,
  cluster: string({ description: "Name of the TalosControlPlane whose cluster it is in, once it was begun." }),
  releaseName: string({ description: "Name of the release in the cluster, once it was begun." }),
  releaseNamespace: string({ description: "Its namespace." }),
};
