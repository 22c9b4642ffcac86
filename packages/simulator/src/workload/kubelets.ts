import type { KubeTransport, Timers } from "@talos-operator/ports";
import { Attacher } from "./attacher.ts";
import type { PodWithVolumes } from "./attacher.ts";
import { bringsNetwork, isOnHostNetwork } from "./pod-network.ts";
import type { NetworkedPod } from "./pod-network.ts";

const retryMs = 1_000;

/** Containers that heed SIGTERM are gone after about this, if their grace period is not shorter. */
const stopMs = 1_000;

/** With it a simulated kubelet holds a pod until its containers have stopped. */
const runningFinalizer = "simulator.talos-operator.dev/running";

interface Pod extends NetworkedPod {
  readonly metadata: NetworkedPod["metadata"] & {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
  };
  readonly spec?: NonNullable<NetworkedPod["spec"]> &
    NonNullable<PodWithVolumes["spec"]> & {
      readonly terminationGracePeriodSeconds?: number;
      readonly containers?: readonly { readonly name: string; readonly image?: string }[];
    };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly unknown[] };
}

/** What the kubelets of one simulated cluster need. */
export interface KubeletPorts {
  readonly transport: KubeTransport;
  readonly timers: Timers;
  readonly now: () => number;
  /** True while the machine behind this Node runs and is connected. */
  readonly isUp: (nodeName: string) => boolean;
  /** True once pods of this Node get a network: Talos brings one, or a plugin was installed there. */
  readonly hasNetwork: (nodeName: string) => boolean;
  /** A pod runs on this Node that brings it a network. */
  readonly onNetwork: (nodeName: string) => void;
}

/**
 * The kubelets of one cluster, as far as drains can tell: a pod that is bound to a Node runs and turns ready; one that is deleted or evicted goes when
 * its grace period allows, and its volumes after it; pods of a machine that is off stay as they are. On a Node without a network run only pods that are on the host's.
 * Nothing schedules and nothing makes pods here.
 */
export class Kubelets {
  readonly #ports: KubeletPorts;
  readonly #closing = new AbortController();
  readonly #stopping = new Set<string>();
  readonly #attacher: Attacher;

  constructor(ports: KubeletPorts) {
    this.#ports = ports;
    this.#attacher = new Attacher(ports.transport, ports.timers, this.#closing.signal);
    void this.#follow();
  }

  /** A machine is back: what was left undone there is done now. */
  async resume(): Promise<void> {
    try {
      const { items } = await this.#list();
      await Promise.all(items.map((pod) => this.#see(pod)));
    } catch {
      // The API is away; following it again begins with everything there is.
    }
  }

  close(): void {
    this.#closing.abort();
  }

  async #follow(): Promise<void> {
    const { transport, timers } = this.#ports;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const { items, resourceVersion } = await this.#list();
        await Promise.all(items.map((pod) => this.#see(pod)));
        const watch = await transport.watch({ method: "GET", path: "/api/v1/pods", query: { watch: "true", resourceVersion } }, { signal });
        for await (const { type, object } of watch.events) {
          if (type === "ERROR") break;
          if (type !== "DELETED" && type !== "BOOKMARK") void this.#see(object as Pod);
        }
      } catch {
        // Whatever it was: a kubelet goes on trying.
      }
      try {
        await timers.sleep(retryMs, signal);
      } catch {
        return; // closed
      }
    }
  }

  async #list(): Promise<{ readonly items: readonly Pod[]; readonly resourceVersion: string }> {
    const { status, body } = await this.#ports.transport.send({ method: "GET", path: "/api/v1/pods" });
    const list = body as { readonly items?: readonly Pod[]; readonly metadata?: { readonly resourceVersion?: string } };
    if (status !== 200) throw new Error(`pods were not listed: HTTP ${status}`);
    return { items: list.items ?? [], resourceVersion: list.metadata?.resourceVersion ?? "" };
  }

  async #see(pod: Pod): Promise<void> {
    const nodeName = pod.spec?.nodeName ?? "";
    if (nodeName === "" || !this.#ports.isUp(nodeName)) return;
    const isHeld = pod.metadata.finalizers?.includes(runningFinalizer) === true;
    if (pod.metadata.deletionTimestamp === undefined) {
      if (!isOnHostNetwork(pod) && !this.#ports.hasNetwork(nodeName)) await this.#hold(pod);
      else if (!isHeld) await this.#start(pod);
      if (isHeld && pod.status?.phase === "Running" && bringsNetwork(pod)) this.#ports.onNetwork(nodeName);
    } else if (isHeld) {
      await this.#stop(pod, nodeName);
    }
  }

  /** Its Node has no network: its containers are not made. What runs already goes on. */
  async #hold(pod: Pod): Promise<void> {
    const isKnown = pod.status?.phase !== undefined && (pod.status.phase !== "Pending" || pod.status.conditions?.some(isNotReady) === true);
    if (isKnown) return;
    const lastTransitionTime = this.#at();
    const unready = { status: "False", reason: "ContainersNotReady", message: "containers are not created: NetworkNotReady" };
    const conditions = [
      { type: "PodScheduled", status: "True", lastTransitionTime },
      { type: "Initialized", status: "True", lastTransitionTime },
      { type: "Ready", ...unready, lastTransitionTime },
      { type: "ContainersReady", ...unready, lastTransitionTime },
    ];
    const containerStatuses = pod.spec?.containers?.map(({ name, image = "" }) => ({
      name,
      image,
      imageID: "",
      ready: false,
      started: false,
      restartCount: 0,
      state: { waiting: { reason: "ContainerCreating" } },
    }));
    await this.#patch(pod, "/status", { status: { phase: "Pending", startTime: lastTransitionTime, conditions, containerStatuses } });
  }

  /** RFC 3339, seconds. */
  #at(): string {
    return new Date(this.#ports.now()).toISOString().replace(/\.\d+Z$/, "Z");
  }

  async #start(pod: Pod): Promise<void> {
    const { finalizers = [], resourceVersion } = pod.metadata;
    const held = await this.#patch(pod, "", { metadata: { resourceVersion, finalizers: [...finalizers, runningFinalizer] } });
    const isOver = pod.status?.phase !== undefined && pod.status.phase !== "Pending";
    if (!held || isOver) return;
    await this.#attacher.attach(pod);
    const at = this.#at();
    const conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
      type,
      status: "True",
      lastTransitionTime: at,
    }));
    const containerStatuses = pod.spec?.containers?.map(({ name, image = "" }) => ({
      name,
      image,
      imageID: "",
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: at } },
    }));
    await this.#patch(pod, "/status", { status: { phase: "Running", startTime: at, conditions, containerStatuses } });
  }

  async #stop(pod: Pod, nodeName: string): Promise<void> {
    const { uid, deletionGracePeriodSeconds } = pod.metadata;
    if (this.#stopping.has(uid)) return;
    this.#stopping.add(uid);
    try {
      const graceMs = (deletionGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30) * 1_000;
      await this.#ports.timers.sleep(Math.min(graceMs, stopMs), this.#closing.signal);
      if (!this.#ports.isUp(nodeName)) return;
      const finalizers = (pod.metadata.finalizers ?? []).filter((one) => one !== runningFinalizer);
      if (await this.#patch(pod, "", { metadata: { uid, finalizers } })) await this.#attacher.detach(pod);
    } catch {
      // Closed, or the API is away.
    } finally {
      this.#stopping.delete(uid);
    }
  }

  /** False when the pod was changed meanwhile: the watch shows it anew. */
  async #patch(pod: Pod, subresource: string, body: unknown): Promise<boolean> {
    const { namespace, name } = pod.metadata;
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}${subresource}`;
    const headers = { "content-type": "application/merge-patch+json" };
    try {
      for (;;) {
        const { status } = await this.#ports.transport.send({ method: "PATCH", path, headers, body });
        if (status < 500) return status < 300;
        // Its etcd takes no writes, say: no watch would tell that it does again.
        await this.#ports.timers.sleep(retryMs, this.#closing.signal);
      }
    } catch {
      // The API is away; following it again shows the pod anew.
      return false;
    }
  }
}

function isNotReady(condition: unknown): boolean {
  const { type, status } = condition as { readonly type?: string; readonly status?: string };
  return type === "Ready" && status === "False";
}
