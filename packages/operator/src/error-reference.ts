import type { EffectErrorCode } from "./errors.ts";

/** What a person reads about each code. `npm run generate` writes `docs/reference/errors/operator.md` from it; nothing at run time loads it. */
export const errorReference: {
  readonly page: string;
  readonly title: string;
  /** Lines above the codes, Markdown. */
  readonly intro: readonly string[];
  readonly codes: Readonly<Record<EffectErrorCode, { readonly cause: string; readonly effect: string; readonly remedy: string }>>;
} = {
  page: "operator",
  title: "Errors of operator",
  intro: [
    "An effect that is held back at the last moment fails with an `EffectError`: `code`, `retry` (always `backoff`). Nothing was sent. These errors end a pass",
    "and appear in the log at level debug; people read conditions instead.",
  ],
  codes: {
    NOT_LEADING: {
      cause: "Another process holds the lease, the lease could not be read, or too little of it is left for the effect's deadline.",
      effect: "The effect was not sent. The process that leads decides anew.",
      remedy:
        "Nothing. If no process leads for longer than a lease, look at the API server and at the operator's right to update its Lease.",
    },
    RECORD_CHANGED: {
      cause:
        "The ClusterRecord that was read on the way out does not hold the intent of this effect any more: another process, or a person, changed it.",
      effect: "The effect was not sent. The next pass decides on the new record.",
      remedy: "Nothing.",
    },
    PRECONDITION_GONE: {
      cause:
        "A live look on the connection of the effect shows something else than the decision assumed: the machine left maintenance mode, etcd started, or a control plane that must show that it holds no etcd did not answer.",
      effect: "The effect was not sent. The next pass decides on what the machines show now.",
      remedy: "Nothing. If it goes on, the condition Bootstrapped or Ready names the machine.",
    },
    MODE_CHANGED: {
      cause:
        "The annotation reconcile-mode of the TalosControlPlane, or of its TalosCluster, was read on the way out and says something else than when the effect was decided on: somebody paused the cluster, and the watch has not reported that yet.",
      effect: "The effect was not sent. The cluster is looked at again within a second, and the condition Paused says why it rests.",
      remedy: "Nothing. If it goes on for minutes, the operator's watches do not reach it: look at the API server and what is between.",
    },
    KEYS_UNUSABLE: {
      cause: "The bundle Secret that the ClusterRecord names is absent, unreadable, or has another fingerprint.",
      effect: "Nothing is sent to any machine of the cluster; the condition SecretsLost says so.",
      remedy: "Restore the Secret from a backup; see the runbook secrets-lost.",
    },
    ANOTHER_OPERATOR: {
      cause:
        "On the way out another operator was seen at work on the same cluster: it wrote status or finalizers within ten minutes, or, for a cluster that was taken over, its lease or Deployment is alive.",
      effect: "The effect was not sent. The condition AnotherOperatorActive says who it is, and nothing is done while it holds.",
      remedy: "Stop the other operator; see the runbook another-operator-active.",
    },
  },
};
