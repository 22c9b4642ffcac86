import type { CommandSpec } from "../command.ts";
import { addonFlags } from "../settings/addon-flags.ts";
import { localBackupFlags } from "../settings/backup-flags.ts";
import { etcdTroubles } from "../process/etcd-trouble.ts";
import { dataDirFlag, firstAddressFlag, listenFlag, MOST_DEMO_MACHINES } from "./shared-flags.ts";

export const demoCommand: CommandSpec = {
  name: "demo",
  summary: "Simulated machines, embedded Kubernetes API and operator in one process: a first cluster to watch and play with.",
  description:
    "Applies an example (3 control planes, 3 workers), shows how it is made, says how to reach the cluster, and goes on showing it until Ctrl-C.",
  flags: [
    { name: "exit-when-ready", kind: "boolean", summary: "stop as soon as everything that was applied is Ready" },
    {
      name: "timeout",
      kind: "number",
      value: "seconds",
      summary: "give up when it is not Ready by then, and say what is missing (exit code 3)",
      min: 0,
    },
    {
      name: "manifest",
      kind: "string",
      value: "file",
      summary: "apply this instead of the example; a machine is simulated at every loopback address in it",
    },
    {
      name: "machines",
      kind: "number",
      value: "count",
      summary: "simulated machines; those that nothing names are spare",
      default: 8,
      min: 0,
      max: MOST_DEMO_MACHINES,
      isCount: true,
    },
    {
      ...firstAddressFlag,
      summary: `${firstAddressFlag.summary}, and so do the addresses of the example; a manifest of your own keeps its addresses`,
    },
    { name: "talos-version", kind: "string", value: "version", summary: "Talos on the machines' boot media", default: "v1.13.9" },
    {
      name: "broken-version",
      kind: "string",
      value: "version",
      summary: "a Talos version that no machine runs yet and that never gets healthy: upgrade to it to see an upgrade fail",
    },
    {
      name: "etcd-trouble",
      kind: "string",
      value: "trouble",
      summary: `inject an etcd fault once the cluster is Ready: ${etcdTroubles.join(", ")}`,
    },
    dataDirFlag,
    { name: "persist", kind: "boolean", summary: "keep nothing but the kubeconfigs: the next start makes a new cluster", default: true },
    listenFlag,
    {
      name: "object-storage-port",
      kind: "number",
      value: "port",
      summary: "port of 127.0.0.1 where a small S3 endpoint for backups is served; 0 serves none",
      default: 9333,
      min: 0,
      max: 65_535,
      isCount: true,
    },
    {
      name: "chart-repository-port",
      kind: "number",
      value: "port",
      summary: "port of 127.0.0.1 where a small repository of charts for addons is served; 0 serves none",
      default: 9444,
      min: 0,
      max: 65_535,
      isCount: true,
    },
    ...localBackupFlags,
    ...addonFlags,
  ],
  run: async (flags, context) => {
    // Loading takes seconds where nothing is cached: whoever waits reads at once what is coming.
    context.stderr.write("Starting simulated machines, a Kubernetes API and the operator ...\n");
    await (await import("./run-demo.ts")).runDemo(flags, context);
  },
};
