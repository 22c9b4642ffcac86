import type { CommandSpec } from "../command.ts";
import { forceFlag, talosVersionFlag } from "./shared-flags.ts";

export const secretsGenerateCommand: CommandSpec = {
  name: "secrets generate",
  summary: "Makes the secrets bundle of a new cluster, as `talosctl gen secrets` does.",
  description: "The file is written with mode 0600. Keep it: without it a cluster cannot be grown, and whoever has it owns the cluster.",
  flags: [
    {
      name: "output-file",
      short: "o",
      kind: "string",
      value: "file",
      summary: "where the bundle goes, - for standard output",
      default: "secrets.yaml",
    },
    talosVersionFlag,
    { name: "from-controlplane-config", kind: "string", value: "file", summary: "take the secrets of the config of a control plane" },
    {
      name: "from-kubernetes-pki",
      short: "p",
      kind: "string",
      value: "folder",
      summary: "take over the authorities of a cluster that kubeadm made, such as those in /etc/kubernetes/pki",
    },
    {
      name: "kubernetes-bootstrap-token",
      short: "t",
      kind: "string",
      value: "token",
      summary: "its bootstrap token; without it, a new one is made",
    },
    forceFlag,
  ],
  run: async (flags, context) => (await import("./run-secrets.ts")).runSecretsGenerate(flags, context),
};
