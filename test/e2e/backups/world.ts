import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLogger, createX509Keys, systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { createKubeClient, type KubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { createDatacenter, demoTimings, type WorkloadApi } from "@talos-operator/simulator";
import { serveDatacenter } from "@talos-operator/simulator/grpc";
import { KUBECTL_WAITS, ownAddress, startGenuineApi, tool } from "@talos-operator/adapters/testing";
import { createEmbeddedWorkloads } from "../../../packages/cli/src/process/workload-api.ts";
import { must, startCommand, temporaryFolder, type Running } from "../processes.ts";
import { startKubelet, type Kubelet } from "./kubelet.ts";
import { startStoreGate, type StoreGate } from "./store-gate.ts";
import { startVersitygw, type Versitygw } from "./versitygw.ts";

export const NAMESPACE = "talos-operator-system";
/** The chart's name for this release. */
export const JOB_ACCOUNT = `system:serviceaccount:${NAMESPACE}:talos-operator-backup`;

/** Of the manager's health probes. */
const HEALTH_PORT = 18_081;

/** Several parts of 5 MiB, however well they are compressed: objects of random text beside those of the simulated cluster. */
const BALLAST = { objects: 64, bytes: 200_000 };

const main = fileURLToPath(new URL("../../../packages/cli/src/main.ts", import.meta.url));

/**
 * A genuine kube-apiserver with the job controller and the garbage collector, a genuine S3 server, simulated machines, and the operator as the chart installs it:
 * with the chart's roles and arguments, in a namespace that takes restricted pods alone.
 */
export interface BackupWorld extends AsyncDisposable {
  readonly client: KubeClient;
  readonly store: Versitygw;
  readonly gate: StoreGate;
  readonly kubelet: Kubelet;
  /** Behind the claim of the volume of backups. */
  readonly directory: string;
  readonly folder: string;
  readonly kubeconfig: string;
  /** A TalosCluster of the simulated machines. */
  readonly cluster: object;
  kubectl(...args: string[]): Promise<string>;
  apply(...objects: readonly object[]): Promise<void>;
  killManager(): Promise<void>;
  startManager(): void;
  /** What every manager printed so far. */
  logs(): string;
}

interface Deployment {
  readonly kind: string;
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly args: readonly string[]; readonly env: readonly { name: string; value?: string }[] }[];
      };
    };
  };
}

export async function startBackupWorld(): Promise<BackupWorld> {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder()).path;
  const controllers = ["job-controller", "garbage-collector-controller", "serviceaccount-controller", "ttl-after-finished-controller"];
  const api = await startGenuineApi({ controllers });
  started.defer(api.stop);
  const { kubeconfig } = api;
  const kubectl = (...args: string[]): Promise<string> => must(tool("kubectl"), ["--kubeconfig", kubeconfig, ...args]);
  const store = await startVersitygw(folder);
  started.defer(() => store.kill());
  const gate = await startStoreGate(store.host);
  started.defer(() => gate.close());
  const machines = [1, 2, 3].map(() => ownAddress());
  await serveMachines(machines, started);

  const install = await installed();
  const manifests = join(folder, "operator.yaml");
  writeFileSync(manifests, install.text);
  await kubectl("apply", "--server-side", "-f", "config/crd");
  await kubectl("create", "namespace", NAMESPACE);
  await kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted");
  await kubectl("apply", "-f", manifests);
  await kubectl("wait", "--for=condition=Established", "crd", "--all", KUBECTL_WAITS);
  const managerConfig = join(folder, "manager.kubeconfig");
  writeFileSync(
    managerConfig,
    await kubeconfigOf(kubeconfig, await kubectl("create", "token", "talos-operator-controller-manager", "-n", NAMESPACE)),
  );

  const { config } = await loadKubeconfig({ path: kubeconfig });
  const transport = createHttpsTransport({ ...config, userAgent: "kubelet" });
  started.defer(() => transport.close());
  const client = createKubeClient(transport);
  const directory = join(folder, "volume");
  const kubelet = startKubelet({
    client,
    namespace: NAMESPACE,
    folder: join(folder, "pods"),
    claims: { "talos-operator-backups": directory },
    program: [process.execPath, main],
    // Nowhere to write but its volumes, as with a root filesystem that is read-only.
    env: { PATH: dirname(tool("etcdutl")), HOME: "/nonexistent", TMPDIR: "/nonexistent" },
  });
  started.defer(() => kubelet.close());

  const managers: Running[] = [];
  const startManager = (): void => {
    const env = { ...process.env, ...install.env };
    managers.push(startCommand(process.execPath, [main, ...install.args, "--kubeconfig", managerConfig], env));
  };
  startManager();
  started.defer(async () => void (await Promise.all(managers.map((one) => one.end("SIGKILL")))));
  const rest = started.move();
  return {
    client,
    store,
    gate,
    kubelet,
    directory,
    folder,
    kubeconfig,
    cluster: clusterOf(machines, ownAddress()),
    kubectl,
    async apply(...objects) {
      const file = join(folder, `apply-${performance.now()}.json`);
      writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
      await kubectl("apply", "-f", file);
    },
    killManager: async () => void (await managers.at(-1)?.end("SIGKILL")),
    startManager,
    logs: () => managers.map((one) => one.output()).join("\n=== the next manager\n"),
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

/** What genuine helm makes of the chart, and what a pod of it would be started with. */
async function installed(): Promise<{ readonly text: string; readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv }> {
  const values = [
    "crds.install=false",
    "metrics.enabled=false",
    "leaderElection.fastFailover=true",
    "rsaPool=1",
    `health.port=${HEALTH_PORT}`,
    "backup.allowInsecureObjectStorage=true",
    "backup.directory.enabled=true",
    "backup.podLabels.team=platform",
    "extraArgs={--allow-loopback-machines}",
  ];
  await must(tool("helm"), ["lint", "--strict", "charts/talos-operator", "--set", values.join(",")]);
  const text = await must(tool("helm"), [
    "template",
    "talos-operator",
    "charts/talos-operator",
    "-n",
    NAMESPACE,
    "--set",
    values.join(","),
  ]);
  const objects = parseKubernetesYaml(text) as readonly (Deployment | null)[];
  const container = objects.find((one) => one?.kind === "Deployment")?.spec.template.spec.containers[0];
  assert.ok(container !== undefined);
  const env = Object.fromEntries(container.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
  // The folder of a volume that this machine has not.
  return { text, args: container.args, env: { ...env, RESULTS_PATH: "" } };
}

function clusterOf(machines: readonly string[], endpoint: string): object {
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosCluster",
    metadata: { namespace: "default", name: "first" },
    spec: {
      controlPlane: {
        version: "v1.13.9",
        kubeVersion: "v1.36.3",
        mode: "metal",
        endpoint: `https://${endpoint}:6443`,
        metalSpec: { machines: machines.map((address) => ({ address })) },
      },
    },
  };
}

async function kubeconfigOf(admin: string, token: string): Promise<string> {
  const given = JSON.parse(await must(tool("kubectl"), ["--kubeconfig", admin, "config", "view", "--raw", "-o", "json"])) as {
    clusters: object[];
    contexts: { name: string; context: { cluster: string } }[];
  };
  const [context] = given.contexts;
  return JSON.stringify({
    ...given,
    users: [{ name: "manager", user: { token: token.trim() } }],
    contexts: [{ name: context?.name, context: { ...context?.context, user: "manager", namespace: NAMESPACE } }],
  });
}

async function serveMachines(machines: readonly string[], started: AsyncDisposableStack): Promise<void> {
  const workload = createEmbeddedWorkloads(createLogger({ level: "silent" }), () => undefined);
  started.defer(() => workload.close());
  const ballast = Array.from({ length: BALLAST.objects }, (_, index) => ({
    resource: "/configmaps",
    key: `default/ballast-${index}`,
    revision: 2,
    object: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "default", name: `ballast-${index}` },
      data: { text: Buffer.from(systemRandom.bytes(BALLAST.bytes)).toString("base64") },
    },
  }));
  const withBallast: WorkloadApi = {
    async open(request) {
      const cluster = await workload.open(request);
      return {
        ...cluster,
        stored() {
          const { revision, objects } = cluster.stored?.() ?? { revision: 2, objects: [] };
          return { revision, objects: [...objects, ...ballast] };
        },
      };
    },
  };
  const datacenter = createDatacenter({
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    keys: createX509Keys(),
    timings: demoTimings,
    machines: machines.map((address) => ({ address })),
    workload: withBallast,
  });
  started.defer(() => datacenter.close());
  const served = await serveDatacenter(datacenter);
  started.defer(() => served.close());
}
