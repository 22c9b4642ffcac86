import type { FlagSpec } from "../command.ts";

export const dataDirFlag: FlagSpec = {
  name: "data-dir",
  kind: "string",
  value: "folder",
  summary: "folder for everything that is kept; the kubeconfig is written there",
  default: ".talos-operator",
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

export const durabilityFlag: FlagSpec = {
  name: "durability",
  kind: "string",
  value: "process-crash|power-loss",
  summary: "process-crash: acknowledged writes survive kill -9; power-loss: they also survive a power cut, and cost a disk flush each",
  default: "process-crash",
};
