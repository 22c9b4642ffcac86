import type { ConditionEntry } from "./entry.ts";

/** Kinds that are about addons. */
export const addonKinds = ["TalosClusterAddon", "TalosClusterAddonRelease"] as const;

/** Reasons of a `Ready` that is true. */
export const addonReadyReasons = {
  Installed: {
    status: "True",
    release: "none",
    when: "The release is deployed, or the objects are applied, as the spec asks for, and what it runs is ready.",
    next: "-",
  },
  Reconciled: { status: "True", release: "none", when: "Every selected cluster runs the addon.", next: "-" },
} as const satisfies ConditionEntry["reasons"];

/** What stands between an addon and its clusters: reasons of `Ready` on the kinds of addons. */
export const addonReasons = {
  WaitingForCluster: {
    status: "False",
    release: "itself",
    when: "The cluster is not bootstrapped yet, is paused, is being deleted, or its keys are not there: nothing can be installed.",
    next: "See the conditions of the TalosControlPlane.",
  },
  WaitingForDependency: {
    status: "False",
    release: "itself",
    when: "A release that spec.dependsOn names is not Ready; the message names it.",
    next: "See the release that is named.",
  },
  Installing: {
    status: "False",
    release: "itself",
    when: "A worker is at work, waits for its turn, or its next try is waited for; the message says which.",
    next: "-",
  },
  WorkloadsNotReady: {
    status: "False",
    release: "itself",
    when: "The release is deployed, and something that it runs is not ready; the message names it.",
    next: "Look at the objects that are named, in the cluster.",
  },
  ClusterNotReachable: {
    status: "False",
    release: "itself",
    when: "The Kubernetes API of the cluster does not answer. It is tried again.",
    next: "See NodesReady and EtcdHealthy of the TalosControlPlane.",
  },
  KubeconfigFailed: {
    status: "False",
    release: "itself",
    when: "No access to the cluster could be made, or the cluster refuses it.",
    next: "See the conditions of the TalosControlPlane.",
  },
  HelmNotFound: {
    status: "False",
    release: "person",
    when: "There is no helm on the PATH of the operator or its worker, or one that is older than 3.14. Everything else goes on.",
    next: "Install Helm 4 or 3 and put it on the PATH, or name it with --helm. It is found within a minute.",
  },
  HelmClientFailed: {
    status: "False",
    release: "itself",
    when: "The Job or child process could not be started, or ended without a result. It is tried again.",
    next: "Look at the Job the message names: an image, a quota or its memory limit may be in the way.",
  },
  RepositoryUnreachable: {
    status: "False",
    release: "itself",
    when: "The repository of the chart does not answer. It is tried again.",
    next: "Check helmSpec.repoURL, and the network between operator and repository.",
  },
  RepositoryRefused: {
    status: "False",
    release: "person",
    when: "The repository refuses the credentials, or its certificate is not to be trusted.",
    next: "Correct helmSpec.credentials or helmSpec.tlsConfig.caSecret.",
  },
  ChartNotFound: {
    status: "False",
    release: "person",
    when: "The repository has no chart of that name, or no such version of it.",
    next: "Correct helmSpec.chartName or helmSpec.version.",
  },
  ChartRefused: {
    status: "False",
    release: "person",
    when: "The archive is no chart, is too large, or has another digest than was asked for or installed before.",
    next: "Correct what the message names. A chart that was published anew under its version is taken by giving helmSpec.digest.",
  },
  KubernetesVersionExcluded: {
    status: "False",
    release: "person",
    when: "The chart does not allow the version of Kubernetes that runs.",
    next: "Choose another version of the chart.",
  },
  ValuesRefused: {
    status: "False",
    release: "person",
    when: "The values are no YAML, do not fit the chart's schema, or a template fails with them.",
    next: "Correct what the message names.",
  },
  ValuesNotFound: {
    status: "False",
    release: "person",
    when: "A Secret or ConfigMap that the spec names is not there or lacks the key. Only those of the same namespace are read.",
    next: "Make the object that is named, in the namespace of the release.",
  },
  ReleaseNotOurs: {
    status: "False",
    release: "person",
    when: "A Helm release of this name belongs to somebody else: to another addon, or to a chart of another name. Nothing of it is touched.",
    next: "Choose another helmSpec.releaseName, or remove the other one.",
  },
  ReleaseLocked: {
    status: "False",
    release: "itself",
    when: "Somebody else's Helm is at work on the release, or left its lock behind.",
    next: "If nobody is at work on it: helm rollback, or remove the newest Secret of the release.",
  },
  ManifestsRefused: {
    status: "False",
    release: "person",
    when: "What spec.manifests holds is no set of objects, is too large, or has another digest than was asked for. Nothing of it is applied.",
    next: "Correct what the message names.",
  },
  ManifestsUnreachable: {
    status: "False",
    release: "itself",
    when: "An address of spec.manifests does not answer, or not with what it should. It is tried again.",
    next: "Check the address, and the network between operator and server.",
  },
  ObjectsConflict: {
    status: "False",
    release: "person",
    when: "An object of spec.manifests belongs to another addon, or another manager has a field of it; the message names both.",
    next: "Leave the object or the fields out, or set spec.manifests.takeOwnership.",
  },
  ApplyFailed: {
    status: "False",
    release: "itself",
    when: "The cluster refuses an object, or does not serve its kind yet. It is tried again, more and more rarely.",
    next: "Correct what the message names: an edit is tried at once.",
  },
  HelmInstallFailed: {
    status: "False",
    release: "itself",
    when: "Helm failed: a hook, an object that the cluster refuses, a time-out. It is tried again, more and more rarely.",
    next: "Correct what the message names: an edit is tried at once.",
  },
  NoClusterSelected: {
    status: "False",
    release: "person",
    when: "The selector is empty, or no cluster has such labels where the addon may see it.",
    next: "Give the TalosControlPlane or TalosCluster the labels. For another namespace annotate that Namespace with talos-operator.dev/addons-from.",
  },
  ReleasesNotReady: {
    status: "False",
    release: "itself",
    when: "A selected cluster does not run the addon yet; the message counts and names the first.",
    next: "See the TalosClusterAddonRelease that is named.",
  },
  ListClustersFailed: {
    status: "False",
    release: "person",
    when: "The selector cannot be understood.",
    next: "Correct spec.clusterSelector.",
  },
  DependencyCycle: {
    status: "False",
    release: "person",
    when: "spec.dependsOn leads back to the addon itself: none of them would ever be installed. What is installed stays.",
    next: "Take one of them out of spec.dependsOn.",
  },
  ReferencesNotShared: {
    status: "False",
    release: "person",
    when: "A selected cluster is in another namespace, and the spec names Secrets or ConfigMaps. They are never read across namespaces: nothing is installed there.",
    next: "Leave credentials, caSecret, valuesFrom and configMapRef out, or make the addon in the namespace of the cluster.",
  },
  CreateOrUpdateReleaseFailed: {
    status: "False",
    release: "itself",
    when: "The API server refused a TalosClusterAddonRelease, or one of its name belongs to somebody else.",
    next: "Correct what the message names.",
  },
} as const satisfies ConditionEntry["reasons"];

/** A release whose cluster the addon does not select any more. */
export const noLongerSelected = {
  meaning: "The addon does not select the cluster any more, and the release stays as it is: spec.onDeselect says keep.",
  kinds: ["TalosClusterAddonRelease"],
  reasons: {
    ClusterNotSelected: {
      status: "True",
      release: "none",
      when: "The labels or the selector were changed.",
      next: "Delete the TalosClusterAddonRelease to uninstall it.",
    },
  },
} as const satisfies ConditionEntry;

/** Whether what runs is as Helm deployed it. */
export const drifted = {
  meaning:
    "Whether somebody else changed fields that Helm set, or removed objects of the release; the message names up to five objects with paths, never values. Only where spec.drift asks for it.",
  kinds: ["TalosClusterAddonRelease"],
  reasons: {
    ChangedByOthers: {
      status: "True",
      release: "person",
      when: "Fields are not as Helm set them, or objects are gone. With spec.drift.mode revert it is corrected, once an interval.",
      next: "Change the values instead, name the paths in spec.drift.ignore, or set spec.drift.mode to revert.",
    },
    AsDeployed: { status: "False", release: "none", when: "Nothing differed when it was last compared.", next: "-" },
    DriftUnknown: {
      status: "Unknown",
      release: "itself",
      when: "It could not be compared; the message says why. It is tried again after the interval.",
      next: "Correct what the message names.",
    },
  },
} as const satisfies ConditionEntry;

/** A Helm release that is asked for more than once. */
export const releaseDisputed = {
  meaning:
    "Another addon, or a TalosClusterAddonRelease made by hand, asks for the same Helm release on the same cluster; the message names it, and of another namespace its kind alone. Who came first has it; Ready of the other says ReleaseNotOurs.",
  kinds: ["TalosClusterAddon"],
  reasons: {
    WantedTwice: {
      status: "True",
      release: "none",
      when: "Name and namespace of the release are the same on one cluster.",
      next: "Give one of them another helmSpec.releaseName, or take the cluster out of its selector.",
    },
  },
} as const satisfies ConditionEntry;
