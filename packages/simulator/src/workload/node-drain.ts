import type { KubeTransport, Timers } from "@talos-operator/ports";

/**
 * What a machine does to its own Node before it stops services for an upgrade: the Node is cordoned and says by whom, and pods are evicted that somebody will make
 * again. A budget that forbids an eviction is asked again every five seconds, and after five minutes the machine goes on whatever is left.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/pkg/controllers/k8s/node_apply.go` ApplyCordoned, `pkg/kubernetes/kubernetes.go` Drain
 */

const cordonedBy = "talos.dev/cordoned";
const cordonMs = 60_000;
const drainMs = 5 * 60_000;
const retryMs = 5_000;
const goneMs = 60_000;
const pollMs = 3_000;
const graceSeconds = 60;

interface DrainPorts {
  /** The API of the cluster; `undefined` while it does not answer. */
  readonly transport: () => KubeTransport | undefined;
  readonly timers: Timers;
  readonly now: () => number;
  /** False once the machine is about something else. */
  readonly isNeeded: () => boolean;
}

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind: string; readonly controller?: boolean }[];
  };
  readonly spec?: { readonly nodeName?: string };
}

/** False when nobody cordons the Node within a minute. */
export async function drainNode(name: string, ports: DrainPorts): Promise<boolean> {
  const { now, timers, isNeeded } = ports;
  const cordonUntil = now() + cordonMs;
  while (!(await isCordoned(name, ports))) {
    if (!isNeeded() || now() >= cordonUntil) return false;
    await timers.sleep(1_000);
  }
  const pods = await podsOn(name, ports);
  const until = now() + drainMs;
  await Promise.all(pods.map((pod) => evict(pod, until, ports)));
  return true;
}

/** Makes a Node schedulable again that its machine cordoned, and no other. */
export async function uncordonNode(transport: KubeTransport, name: string): Promise<void> {
  const node = await readNode(transport, name);
  if (node?.metadata?.annotations?.[cordonedBy] === undefined) return;
  await patchNode(transport, name, { spec: { unschedulable: null }, metadata: { annotations: { [cordonedBy]: null } } });
}

async function isCordoned(name: string, { transport }: DrainPorts): Promise<boolean> {
  const api = transport();
  if (api === undefined) return false;
  const node = await readNode(api, name);
  if (node === undefined) return false;
  if (node.spec?.unschedulable === true) return true;
  return patchNode(api, name, { spec: { unschedulable: true }, metadata: { annotations: { [cordonedBy]: "true" } } });
}

interface Node {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: { readonly unschedulable?: boolean };
}

async function readNode(transport: KubeTransport, name: string): Promise<Node | undefined> {
  const answer = await sent(transport, { method: "GET", path: `/api/v1/nodes/${encodeURIComponent(name)}` });
  return answer?.status === 200 ? (answer.body as Node) : undefined;
}

async function patchNode(transport: KubeTransport, name: string, body: unknown): Promise<boolean> {
  const headers = { "content-type": "application/merge-patch+json" };
  const answer = await sent(transport, { method: "PATCH", path: `/api/v1/nodes/${encodeURIComponent(name)}`, headers, body });
  return answer !== undefined && answer.status < 300;
}

/** Mirror pods, pods of nobody and those of a DaemonSet stay. */
async function podsOn(name: string, { transport }: DrainPorts): Promise<readonly Pod[]> {
  const api = transport();
  if (api === undefined) return [];
  const answer = await sent(api, { method: "GET", path: "/api/v1/pods", query: { fieldSelector: `spec.nodeName=${name}` } });
  const { items = [] } = (answer?.body ?? {}) as { readonly items?: readonly Pod[] };
  return items.filter(({ metadata: { annotations, ownerReferences }, spec }) => {
    const owner = ownerReferences?.find(({ controller }) => controller === true);
    const isMirror = annotations?.["kubernetes.io/config.mirror"] !== undefined;
    return spec?.nodeName === name && !isMirror && owner !== undefined && owner.kind !== "DaemonSet";
  });
}

async function evict(pod: Pod, until: number, ports: DrainPorts): Promise<void> {
  const { transport, timers, now, isNeeded } = ports;
  const { name, namespace } = pod.metadata;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
  const body = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { gracePeriodSeconds: graceSeconds },
  };
  while (isNeeded() && now() < until) {
    const api = transport();
    const answer = api === undefined ? undefined : await sent(api, { method: "POST", path: `${path}/eviction`, body });
    // Only a budget is worth asking again.
    if (answer?.status !== 429) return answer !== undefined && answer.status < 300 ? untilGone(pod, path, until, ports) : undefined;
    await timers.sleep(retryMs);
  }
}

async function untilGone(pod: Pod, path: string, until: number, { transport, timers, now, isNeeded }: DrainPorts): Promise<void> {
  const end = Math.min(until, now() + goneMs);
  while (isNeeded() && now() < end) {
    const api = transport();
    const answer = api === undefined ? undefined : await sent(api, { method: "GET", path });
    if (answer?.status === 404) return;
    if (answer?.status === 200 && (answer.body as Pod).metadata.uid !== pod.metadata.uid) return;
    await timers.sleep(pollMs);
  }
}

/** `undefined`: the API did not answer. */
async function sent(
  transport: KubeTransport,
  request: Parameters<KubeTransport["send"]>[0],
): Promise<{ readonly status: number; readonly body: unknown } | undefined> {
  try {
    return await transport.send(request);
  } catch {
    return undefined;
  }
}
