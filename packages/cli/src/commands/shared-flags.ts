import type { FlagSpec } from "../command.ts";
import { DEFAULT_FIRST_ADDRESS } from "../process/first-address.ts";

export const dataDirFlag: FlagSpec = {
  name: "data-dir",
  kind: "string",
  value: "folder",
  summary: "folder for everything that is kept; the kubeconfig is written there",
  default: ".talos-operator",
};

/** Below the hundredth address, where the example's cluster endpoint is. */
export const MOST_DEMO_MACHINES = 99;

export const firstAddressFlag: FlagSpec = {
  name: "first-address",
  kind: "string",
  value: "address",
  summary: "address of the first simulated machine, in 127.0.0.0/8; the others follow it",
  default: DEFAULT_FIRST_ADDRESS,
};

export const listenFlag: FlagSpec = {
  name: "listen",
  kind: "string",
  value: "address:port",
  summary: "where the embedded Kubernetes API listens",
  default: "127.0.0.1:7443",
};

export const logLevelFlag: FlagSpec = {
  name: "log-level",
  kind: "string",
  value: "level",
  summary: "debug, info, warn, error or silent",
  default: "info",
};

/** Of commands that read their settings from the environment, too. */
export const operatorLogLevelFlag: FlagSpec = {
  name: "log-level",
  kind: "string",
  value: "level",
  summary: "debug, info, warn, error or silent; default is LOG_LEVEL, else info",
};

export const durabilityFlag: FlagSpec = {
  name: "durability",
  kind: "string",
  value: "process-crash|power-loss",
  summary: "process-crash: acknowledged writes survive kill -9; power-loss: they also survive a power cut, and cost a disk flush each",
  default: "process-crash",
};

/** As talosctl has it for everything that holds keys. */
export const forceFlag: FlagSpec = { name: "force", short: "f", kind: "boolean", summary: "overwrite files that exist" };

/** Absent, the rules are those of {@link referenceTalosVersion}: what genuine talosctl of that release does. */
export const talosVersionFlag: FlagSpec = {
  name: "talos-version",
  kind: "string",
  value: "version",
  summary: "Talos of the machines, such as v1.12; without it, the rules of Talos v1.13.9",
};

/** Of commands that read a management cluster. */
export const kubeconfigFlag: FlagSpec = {
  name: "kubeconfig",
  kind: "string",
  value: "file",
  summary: "kubeconfig of the management cluster; default is KUBECONFIG, else ~/.kube/config; the demo's is .talos-operator/kubeconfig",
};

export const namespaceFlag: FlagSpec = {
  name: "namespace",
  short: "n",
  kind: "string",
  value: "namespace",
  summary: "namespace of the object; default is that of the kubeconfig's context",
};
