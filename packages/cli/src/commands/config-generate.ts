import type { CommandSpec } from "../command.ts";
import { forceFlag, talosVersionFlag } from "./shared-flags.ts";

const patchSummary = "patch the generated configs, use @file to read a patch from a file";

export const configGenerateCommand: CommandSpec = {
  name: "config generate",
  summary: "Generates the machine configs and the talosconfig of a cluster: the bytes of `talosctl gen config` without docs and examples.",
  description:
    "The endpoint is the URL of the Kubernetes API, `https://<host>:6443` for a single control plane. Files are written with mode 0600, because they hold keys.",
  operands: [
    { name: "cluster-name", summary: "name of the cluster" },
    { name: "cluster-endpoint", summary: "URL of the Kubernetes API" },
  ],
  flags: [
    {
      name: "additional-sans",
      kind: "list",
      isCommaSeparated: true,
      value: "names",
      summary: "further names and addresses for the API certificates",
    },
    { name: "config-patch", kind: "list", value: "patch", summary: `${patchSummary} (all machines)` },
    { name: "config-patch-control-plane", kind: "list", value: "patch", summary: `${patchSummary} (control planes)` },
    { name: "config-patch-worker", kind: "list", value: "patch", summary: `${patchSummary} (workers)` },
    { name: "dns-domain", kind: "string", value: "domain", summary: "DNS domain of the cluster", default: "cluster.local" },
    { name: "install-disk", kind: "string", value: "device", summary: "disk to install to", default: "/dev/sda" },
    { name: "install-image", kind: "string", value: "image", summary: "installer image; without it, that of the Talos release" },
    { name: "kubernetes-version", kind: "string", value: "version", summary: "Kubernetes to run; without it, that of the Talos release" },
    {
      name: "output",
      short: "o",
      kind: "string",
      value: "path",
      summary: "folder for several types, file or - (standard output) for a single one; without it, the current folder",
    },
    { name: "output-dir", kind: "string", value: "folder", summary: "the same, always a folder" },
    {
      name: "output-types",
      short: "t",
      kind: "list",
      isCommaSeparated: true,
      value: "types",
      summary: "what to write: `controlplane`, `worker`, `talosconfig`; without it, all",
    },
    { name: "registry-mirror", kind: "list", isCommaSeparated: true, value: "host=url", summary: "mirrors of registries" },
    talosVersionFlag,
    { name: "version", kind: "string", value: "version", summary: "version of the config format", default: "v1alpha1" },
    { name: "with-cluster-discovery", kind: "boolean", summary: "leave the discovery service out", default: true },
    { name: "with-docs", kind: "boolean", summary: "refused: documentation is not generated here, use talosctl" },
    { name: "with-examples", kind: "boolean", summary: "refused: examples are not generated here, use talosctl" },
    { name: "with-kubespan", kind: "boolean", summary: "enable KubeSpan" },
    { name: "with-secrets", kind: "string", value: "file", summary: "secrets bundle of the cluster; without it, new secrets are made" },
    forceFlag,
  ],
  run: async (flags, context) => (await import("./run-config-generate.ts")).runConfigGenerate(flags, context),
};
