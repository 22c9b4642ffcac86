import type { ConditionEntry } from "./entry.ts";

/** Why the address of a machine is not known, or not one to connect to. Nothing is sent to that machine; others go on. */
export const addressReasons = {
  ReferenceInvalid: {
    status: "False",
    release: "person",
    when: "A machineRef lacks a part, leads to a Secret, or has a fieldPath that cannot be read.",
    next: "Correct machineRef as the message says.",
  },
  ReferenceNotFound: {
    status: "False",
    release: "itself",
    when: "The object that a machineRef names, or its kind, or the ConfigMap or key that a configRef names, is not there.",
    next: "Create it, or correct the reference; it is looked for again.",
  },
  ReferenceForbidden: {
    status: "False",
    release: "person",
    when: "The operator may not read the object that a machineRef or configRef names, or the namespace that a machineRef leads to is none of --machine-ref-namespaces.",
    next: "Grant the operator's service account get on that kind; for a machineRef list and watch too. Or add the namespace to --machine-ref-namespaces.",
  },
  ReferenceUnread: {
    status: "False",
    release: "itself",
    when: "The object that a machineRef or configRef names was not read yet, or the API failed to answer.",
    next: "Nothing; it is retried.",
  },
  AddressMissing: {
    status: "False",
    release: "itself",
    when: "The object that a machineRef names has no value at fieldPath yet.",
    next: "Nothing; it is read again when that object changes.",
  },
  AddressAmbiguous: {
    status: "False",
    release: "person",
    when: "The fieldPath of a machineRef leads to several values.",
    next: "Correct fieldPath so that it leads to one.",
  },
  AddressNotUsable: {
    status: "False",
    release: "person",
    when: "The value at the fieldPath of a machineRef is no IP address.",
    next: "Correct fieldPath.",
  },
  AddressRefused: {
    status: "False",
    release: "person",
    when: "An address lies where no machine can be, or a DNS name gives one that does, or more than 16 of them.",
    next: "Correct the address, the referenced object or the DNS entry.",
  },
  NameUnresolved: {
    status: "False",
    release: "itself",
    when: "A DNS name gives no address, or no answer within two seconds.",
    next: "Correct the name or its DNS entry; it is retried.",
  },
} as const satisfies ConditionEntry["reasons"];

/** Whether the address at which a machine is to be found is known. */
export const addressResolved = {
  meaning:
    "The address of every machine is known. Absent on a pool without a machineRef, and on a TalosMachine whose fixed address nothing is wrong with.",
  kinds: ["TalosControlPlane", "TalosWorker", "TalosMachine"],
  reasons: {
    Resolved: { status: "True", release: "none", when: "Every machineRef gives an address.", next: "-" },
    ...addressReasons,
  },
} as const satisfies ConditionEntry;

/** Whether the hardware identity of a machine is its own. */
export const identityUnique = {
  meaning: "No other machine of the cluster shows this machine's UUID.",
  kinds: ["TalosControlPlane", "TalosMachine"],
  reasons: {
    Unique: { status: "True", release: "none", when: "UUID and hardware addresses are this machine's own.", next: "-" },
    UuidShared: {
      status: "False",
      release: "none",
      when: "Several machines show one UUID, as cloned virtual machines do; hardware addresses tell them apart where they are known.",
      next: "Give each machine a UUID of its own; words of a person name such a machine by its name.",
    },
    UuidOfVendor: {
      status: "False",
      release: "none",
      when: "The UUID is one that a vendor ships by the thousand; hardware addresses tell machines apart.",
      next: "Have the firmware set a UUID; words of a person name such a machine by its name.",
    },
  },
} as const satisfies ConditionEntry;
