import type { CommandSpec } from "../command.ts";
import { keepMemorySmall } from "../process/small-memory.ts";
import { addonFlags } from "../settings/addon-flags.ts";
import { backupFlags } from "../settings/backup-flags.ts";
import { peerFlags, zapFlags } from "../settings/peer-flags.ts";
import { operatorLogLevelFlag } from "./shared-flags.ts";

export const managerCommand: CommandSpec = {
  name: "manager",
  summary: "The operator against a Kubernetes API, in-cluster by default.",
  description:
    "The custom resource definitions must be installed (kubectl apply -f config/crd). Settings are also read from the environment: docs/reference/environment.md.",
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
    {
      name: "rsa-pool",
      kind: "number",
      value: "count",
      summary: "RSA-4096 keys made ahead, one per new cluster; 0 makes each when it is needed",
      default: 2,
      min: 0,
      isCount: true,
    },
    { name: "allow-loopback-machines", kind: "boolean", summary: "let 127/8 and ::1 be machine addresses" },
    {
      name: "require-maintenance-fingerprint",
      kind: "boolean",
      summary: "send nothing to a machine in maintenance mode whose key nobody verified",
    },
    {
      name: "releases-configmap",
      kind: "string",
      value: "name",
      summary: "ConfigMap beside the operator that names further releases of Talos and Kubernetes for upgrades; empty means none",
      default: "talos-operator-releases",
    },
    {
      name: "installer-registries",
      kind: "string",
      value: "list",
      summary: "comma-separated registries, or beginnings of image names, that installers may come from; default is any",
    },
    {
      name: "machine-ref-namespaces",
      kind: "string",
      value: "list",
      summary:
        "comma-separated namespaces that machineRef may lead to beside that of the object that refers; default is MACHINE_REF_NAMESPACES, else all",
    },
    {
      name: "health-probe-bind-address",
      kind: "string",
      value: "address",
      summary: "where /healthz and /readyz are served; 0 switches them off; default is HEALTH_PROBE_BIND_ADDRESS, else :8081",
    },
    {
      name: "metrics-bind-address",
      kind: "string",
      value: "address",
      summary: "where /metrics is served; 0 switches it off; default is METRICS_BIND_ADDRESS, else :8080",
    },
    {
      name: "otlp-endpoint",
      kind: "string",
      value: "url",
      summary: "collector that gets traces; default is OTEL_EXPORTER_OTLP_ENDPOINT, else there are none",
    },
    { name: "enable-tracing", kind: "boolean", summary: "of published operators: refuse to start without an endpoint for traces" },
    ...backupFlags,
    ...addonFlags,
    operatorLogLevelFlag,
    ...zapFlags,
    ...peerFlags,
  ],
  run: async (flags, context) => {
    keepMemorySmall();
    await (await import("./run-manager.ts")).runManager(flags, context);
  },
};
