import type { ConditionEntry } from "./entry.ts";

/** Whether the machine answers as the one it should be. */
export const reachable = {
  meaning: "The machine answers, and is the one that was recorded.",
  kinds: ["TalosMachine"],
  reasons: {
    Answers: { status: "True", release: "none", when: "It answered the last question.", next: "-" },
    NoAnswer: { status: "False", release: "itself", when: "It did not answer in time.", next: "Look at its power and network." },
    NotTalos: { status: "False", release: "person", when: "What answers is not Talos.", next: "Correct the address, or boot Talos there." },
    IdentityMismatch: {
      status: "False",
      release: "person",
      when: "What answers shows another identity than was recorded.",
      next: "Find out what stands at the address.",
    },
    NotAskedYet: { status: "Unknown", release: "itself", when: "It was not asked yet.", next: "-" },
  },
} as const satisfies ConditionEntry;

/** On whose word a machine in maintenance mode, which proves nothing about itself, was trusted. */
export const maintenanceIdentityPinned = {
  meaning: "A person verified the key that the machine showed in maintenance mode before it was configured.",
  kinds: ["TalosMachine"],
  reasons: {
    TrustedOnFirstUse: {
      status: "False",
      release: "none",
      when: "Key, UUID and hardware addresses were written down before the configuration was sent to that same key, and nobody verified them.",
      next: "Compare the SHA-256 in the message with the machine's console when you need certainty.",
    },
    AcceptedByPerson: { status: "True", release: "none", when: "A person named the key in the annotation accept-identity.", next: "-" },
    NotPinnedYet: {
      status: "Unknown",
      release: "none",
      when: "The machine waits in maintenance mode, and its key is written down when it is about to be configured.",
      next: "-",
    },
    NotSeenInMaintenance: {
      status: "Unknown",
      release: "none",
      when: "The machine was not seen in maintenance mode yet.",
      next: "Nothing for a machine that was met running, as by an import. Boot a new one into maintenance mode.",
    },
  },
} as const satisfies ConditionEntry;

/** Whether the machine runs with the configuration made for it. */
export const configApplied = {
  meaning: "The machine runs with the configuration made for it.",
  kinds: ["TalosMachine"],
  reasons: {
    Applied: { status: "True", release: "none", when: "The machine answers with a certificate of this cluster.", next: "-" },
    WaitingForMachine: {
      status: "False",
      release: "itself",
      when: "The machine does not answer in maintenance mode yet; or what answers runs with the cluster's keys, and the record does not know it by this name.",
      next: "Boot it into maintenance mode. One that runs is written down, or the TalosControlPlane says which other entry leads to it.",
    },
    WaitingForControlPlane: {
      status: "False",
      release: "itself",
      when: "The control plane must be there first.",
      next: "See the TalosControlPlane.",
    },
    OutcomeUnknown: {
      status: "Unknown",
      release: "itself",
      when: "The configuration may or may not have arrived, or the machine ran with it and does not answer now; what the machine shows decides.",
      next: "-",
    },
    Rejected: {
      status: "False",
      release: "person",
      when: "The machine refused the configuration.",
      next: "Correct what the message names.",
    },
    Blocked: { status: "False", release: "none", when: "Something forbids sending it.", next: "See the condition Ready." },
  },
} as const satisfies ConditionEntry;
