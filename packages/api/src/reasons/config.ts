import type { ConditionEntry } from "./entry.ts";

/** Whether machines run the configuration that the spec asks for. */
export const configUpToDate = {
  meaning:
    "Every machine runs the settings that the spec asks for, those of all pools for a TalosControlPlane; versions are the matter of UpgradePending.",
  kinds: ["TalosControlPlane", "TalosWorker"],
  reasons: {
    UpToDate: { status: "True", release: "none", when: "What was last applied is what the spec asks for, and machines run it.", next: "-" },
    RenderedOtherwise: {
      status: "True",
      release: "none",
      when: "Machines run what was last applied, or what they had when they were taken over; this release of the operator would write parts of it differently, or imageCache was changed since.",
      next: "Nothing: the difference goes along with the next change of the settings. Nothing is rolled out because the operator was upgraded or took a cluster over. To send it now, annotate talos-operator.dev/retry-config with the machine's name.",
    },
    InstalledOtherwise: {
      status: "True",
      release: "none",
      when: "Machines run the settings that the spec asks for, but something that only an installation reads says something else than when they were installed: installDisk, wipe, kernel arguments, or no image any more.",
      next: "Nothing: it acts when the machine is installed anew. The message says how to have it now.",
    },
    RollingOut: {
      status: "False",
      release: "itself",
      when: "Machines are being changed, one after another; the message names them.",
      next: "-",
    },
    Waiting: {
      status: "False",
      release: "itself",
      when: "A machine cannot be changed now: quorum, budget, or another effect comes first.",
      next: "See the message for what is waited for.",
    },
    RebootPending: {
      status: "False",
      release: "itself",
      when: "The configuration is on a machine's disk and comes into force with its next boot, which waits.",
      next: "See the message for what is waited for; a machine that somebody else boots counts as well.",
    },
    NotSent: {
      status: "False",
      release: "person",
      when: "The spec asks for a change that only an installation brings, that destroys data, or that no running machine survives.",
      next: "Set the paths in the message back, or take the machine out of the cluster, reset it and let it join again.",
    },
    HazardFound: {
      status: "False",
      release: "person",
      when: "The settings have a hazard that shuts everybody out of the machine, or that Kubernetes does not run with. Nothing is sent.",
      next: "Correct what the message names, or annotate talos-operator.dev/accept-hazard with the code on the pool that it names.",
    },
    ConfigRejected: {
      status: "False",
      release: "person",
      when: "A machine refused the configuration. The rollout stopped.",
      next: "Correct what the message names; the next change of the settings starts anew.",
    },
    RolloutStopped: {
      status: "False",
      release: "person",
      when: "A machine did not look well with the new configuration and took it back, or did not come back. The rollout stopped.",
      next: "See the runbook rollout-stopped. Correct the settings, or annotate talos-operator.dev/retry-config with the machine's name.",
    },
    NotRead: {
      status: "Unknown",
      release: "itself",
      when: "The settings changed, and the configuration of a machine was not read back.",
      next: "See the message.",
    },
  },
} as const satisfies ConditionEntry;

/** Changes that somebody else made on machines. */
export const configDrift = {
  meaning:
    "A machine's configuration is not what was last applied, and nobody changed the spec; the message names paths and values, secrets hidden.",
  kinds: ["TalosControlPlane", "TalosWorker"],
  reasons: {
    DriftReported: {
      status: "True",
      release: "none",
      when: "Somebody else changed a machine, and spec.driftPolicy says to report it.",
      next: "Put the patch in the message into configPatches to keep the change, or set spec.driftPolicy to Revert.",
    },
    DriftReverting: { status: "True", release: "itself", when: "The change is being brought back, as spec.driftPolicy says.", next: "-" },
    DriftStays: {
      status: "True",
      release: "person",
      when: "The change cannot be brought back on a running machine.",
      next: "Bring it back by hand, or put the patch in the message into configPatches.",
    },
  },
} as const satisfies ConditionEntry;
