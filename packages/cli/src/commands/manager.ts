import { createLogger, createX509Keys, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { createHttpsTransport, inClusterConfig, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { hostname } from "node:os";
import { booleanFlag, requiredString, stringFlag, type CommandSpec } from "../command.ts";
import { parseLogLevel } from "../process/log-level.ts";
import { startOperator } from "../process/operator-process.ts";
import { untilAborted } from "../process/until-aborted.ts";
import { logLevelFlag } from "./shared-flags.ts";

export const managerCommand: CommandSpec = {
  name: "manager",
  summary: "The operator against a Kubernetes API, in-cluster by default.",
  description: "The custom resource definitions must be installed (kubectl apply -f config/crd).",
  flags: [
    {
      name: "kubeconfig",
      kind: "string",
      value: "file",
      summary: "kubeconfig of the management cluster; without it the pod's service account is used",
    },
    { name: "leader-elect", kind: "boolean", summary: "act without holding a lease: only where no second instance can run", default: true },
    { name: "lease-namespace", kind: "string", value: "namespace", summary: "namespace of the lease; default is the pod's, else default" },
    { name: "fast-failover", kind: "boolean", summary: "lease of 5 s instead of 15 s, renewed every second" },
    { name: "allow-loopback-machines", kind: "boolean", summary: "let 127/8 and ::1 be machine addresses" },
    {
      name: "require-maintenance-fingerprint",
      kind: "boolean",
      summary: "send nothing to a machine in maintenance mode that nobody vouched for",
    },
    logLevelFlag,
  ],
  async run(flags, context) {
    const log = createLogger({ level: parseLogLevel(requiredString(flags, "log-level")) });
    const path = stringFlag(flags, "kubeconfig");
    const kube = createHttpsTransport(path === undefined ? await inClusterConfig() : await loadKubeconfig(path));
    const operator = startOperator({
      kube,
      keys: createX509Keys({ rsaPoolSize: 2 }),
      log,
      options: {
        allowLoopbackMachines: booleanFlag(flags, "allow-loopback-machines"),
        identity: `${hostname()}-${process.pid}-${Buffer.from(systemRandom.bytes(4)).toString("hex")}`,
      },
    });
    try {
      await Promise.race([untilAborted(context.signal), operator.done]);
    } finally {
      await operator.stop();
      kube.close();
    }
  },
};
