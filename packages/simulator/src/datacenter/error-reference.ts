import type { SimulatorErrorCode } from "./errors.ts";

/** What a person reads about each code. `npm run generate` writes `docs/reference/errors/simulator.md` from it; nothing at run time loads it. */
export const errorReference: {
  readonly page: string;
  readonly title: string;
  /** Lines above the codes, Markdown. */
  readonly intro: readonly string[];
  readonly codes: Readonly<Record<SimulatorErrorCode, { readonly cause: string; readonly effect: string; readonly remedy: string }>>;
} = {
  page: "simulator",
  title: "Errors of simulator",
  intro: [
    "`SimulatorError` with `code` and `machine` (address): thrown at those who build or steer a datacenter, or serve its S3 endpoint. What simulated machines answer to calls are gRPC",
    "statuses with the texts of genuine nodes and are not listed here.",
  ],
  codes: {
    UNKNOWN_MACHINE: {
      cause: "`machine(address)` was asked for an address that no machine has.",
      effect: "Nothing.",
      remedy: "Use one of the addresses that the datacenter was created with; `machines()` lists them.",
    },
    ADDRESS_IN_USE: {
      cause: "Two machines were given one address.",
      effect: "The datacenter, or the second machine, is not created.",
      remedy: "Give every machine an address of its own.",
    },
    BAD_MACHINE: {
      cause: "A machine's description cannot be simulated: its address is no IP address, or its Talos version is not 1.12, 1.13 or 1.14.",
      effect: "The machine is not created.",
      remedy: "Correct the field that the message names.",
    },
    BAD_SNAPSHOT: {
      cause: "The snapshot was written by another release, or names one address twice.",
      effect: "The datacenter is not created; the snapshot is left as it is.",
      remedy: "Run the release that wrote it, or begin without it in another data folder.",
    },
    CANNOT_LISTEN: {
      cause:
        "A simulated machine, or the S3 endpoint, cannot listen on its address: the port is taken, or the host does not have the address. The cause of the system is attached.",
      effect: "That machine is unreachable; at the start nothing is served. Without its S3 endpoint nothing can be backed up to it.",
      remedy: "Stop the other process (often a second demo), or add the address to the loopback interface.",
    },
    BAD_OBJECT_STORAGE: {
      cause: "The folder of the S3 endpoint cannot be used.",
      effect: "Nothing is served, and nothing in the folder is changed.",
      remedy:
        "Free the folder that the message names, or name another one. A folder serves one process at a time; one of a newer release is left to that release.",
    },
    CLOSED: {
      cause: "A machine was added to a datacenter that was closed.",
      effect: "Nothing.",
      remedy: "Create a new datacenter.",
    },
  },
};
