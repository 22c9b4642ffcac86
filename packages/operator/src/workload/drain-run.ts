import { isForbidden, KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Clock, KubeCallOptions, Logger, Timers } from "@talos-operator/ports";
import { elapsedMs } from "../elapsed.ts";
import { EffectError, isEffectError } from "../errors.ts";
import { volumesLeft } from "./attached-volumes.ts";
import { cordon } from "./cordon.ts";
import { evict } from "./evict.ts";
import { podType } from "./kinds.ts";
import type { PodObject } from "./kinds.ts";
import { podsToLeave, podText } from "./pods.ts";
import { CERTIFICATE_IN_USE_MS } from "./workload-api.ts";
import type { WorkloadApi, WorkloadUser } from "./workload-api.ts";
import type { BlockedPod, DrainState, NodeOwner } from "../model/workload.ts";

/** Most pods or volumes that are named; the rest is counted. */
const BLOCKED_NAMED = 5;

/** Longest that one call may take. */
const CALL_MS = 10_000;

/** Between two looks at the pods of a Node while some of them leave. */
const LEAVING_LOOK_MS = 2_000;

/** The same, growing, while nothing moves. */
const STUCK_LOOK_MS = { first: 5_000, longest: 30_000 } as const;

/** Evictions under way at once. */
const TOGETHER = 8;

/** A name that Kubernetes gives no Node goes into no certificate. */
const NODE_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** The kubelet whose Node it is, and who may see what is attached to it. */
type DrainUser = Extract<WorkloadUser, { readonly kind: "node" | "volumes" }>;

/** What one drain needs. */
export interface DrainPorts {
  /** Name of the machine's Node, told by the machine itself; `undefined` = it has none. @throws when it cannot be asked */
  nodeName(): Promise<string | undefined>;
  /** The API as one of its users. */
  open(user: DrainUser): Promise<WorkloadApi>;
  /**
   * Fails unless this process still leads and the record still holds the machine.
   *
   * @returns until when, in milliseconds from now, what is sent must be answered
   * @throws EffectError
   */
  demand(): Promise<number>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** UID of a pod that does not have to leave; absent = none. */
  readonly stays?: string;
  /** Told at every step; says the same again where nothing changed. */
  report(state: DrainState): void;
  /** Told after every pause. */
  passed(times: { readonly ranMs: number; readonly unreachableMs: number }): void;
  /** Told once the Node is cordoned, by us or before. */
  cordoned(nodeName: string): void;
}

/**
 * Cordons the Node of one machine and asks for the eviction of its pods until none is left that has to leave, and no volume of theirs is attached. Pods are never
 * deleted past a budget, and one that was evicted counts only when it is gone.
 *
 * Resolves when it ends: drained, nothing to drain, refused, or not ours to do any more. Failures of the API are waited out. Never throws.
 */
export async function runDrain(owner: NodeOwner, why: string, ports: DrainPorts): Promise<void> {
  const run = new DrainRun(owner, why, ports);
  try {
    while (!ports.signal.aborted && !(await run.round())) await run.pause();
  } catch (thrown) {
    // Given up by its owner; nobody waits for it any more.
    if (!ports.signal.aborted) throw thrown;
  } finally {
    run.close();
  }
}

class DrainRun {
  readonly #owner: NodeOwner;
  readonly #why: string;
  readonly #ports: DrainPorts;
  #nodeName: string | undefined;
  #isCordoned = false;
  readonly #opened = new Map<DrainUser["kind"], { readonly api: WorkloadApi; readonly at: number }>();
  #ranMs = 0;
  /** `undefined` while the API answers. */
  #unreachableMs: number | undefined;
  #stuckMs: number = STUCK_LOOK_MS.first;
  #pauseMs: number = LEAVING_LOOK_MS;

  constructor(owner: NodeOwner, why: string, ports: DrainPorts) {
    this.#owner = owner;
    this.#why = why;
    this.#ports = ports;
  }

  async pause(): Promise<void> {
    const { timers, signal } = this.#ports;
    const pauseMs = this.#pauseMs;
    await timers.sleep(pauseMs, signal);
    this.#ranMs += pauseMs;
    if (this.#unreachableMs !== undefined) this.#unreachableMs += pauseMs;
    this.#ports.passed({ ranMs: this.#ranMs, unreachableMs: this.#unreachableMs ?? 0 });
  }

  close(): void {
    for (const { api } of this.#opened.values()) api.close();
    this.#opened.clear();
  }

  /** One look with what follows from it; true = the drain has ended. */
  async round(): Promise<boolean> {
    try {
      const isOver = await this.#step();
      this.#unreachableMs = undefined;
      return isOver;
    } catch (thrown) {
      return this.#failed(thrown);
    }
  }

  async #step(): Promise<boolean> {
    const { signal } = this.#ports;
    this.#nodeName ??= await this.#ports.nodeName();
    const name = this.#nodeName;
    if (name === undefined) return this.#end({ kind: "no-node" });
    if (!NODE_NAME.test(name)) return this.#end({ kind: "refused", detail: "the machine names no valid Node" });
    const { client } = await this.#api({ kind: "node", name });
    const options = { timeoutMs: Math.min(CALL_MS, await this.#ports.demand()), signal };
    if (!this.#isCordoned) {
      const outcome = await cordon(client, name, this.#owner, this.#why, options);
      if (outcome === "no-node") return this.#end({ kind: "no-node" });
      if (outcome !== "done") return this.#end({ kind: "refused", detail: `the Node ${name} reports another machine's UUID or address` });
      this.#isCordoned = true;
      this.#ports.cordoned(name);
    }
    const { items } = await client.resource<PodObject>(podType).list({ fieldSelector: `spec.nodeName=${name}`, ...options });
    const { toEvict, leaving } = podsToLeave(
      items.filter(({ metadata }) => metadata?.uid === undefined || metadata.uid !== this.#ports.stays),
      name,
    );
    if (toEvict.length + leaving.length === 0) return this.#detached(name, items, client, options);
    const blocked: BlockedPod[] = [];
    let askedToWaitMs = 0;
    let isMoving = leaving.length > 0;
    for (let index = 0; index < toEvict.length; index += TOGETHER) {
      const inTime = { timeoutMs: Math.min(CALL_MS, await this.#ports.demand()), signal };
      await Promise.all(
        toEvict.slice(index, index + TOGETHER).map(async (pod) => {
          const eviction = await evict(client, pod, inTime);
          if (eviction.kind === "leaves") isMoving = true;
          else askedToWaitMs = Math.max(askedToWaitMs, eviction.retryAfterMs ?? 0);
          if (eviction.kind === "blocked") blocked.push({ pod: podText(pod), budget: eviction.budget });
        }),
      );
    }
    this.#stuckMs = isMoving ? STUCK_LOOK_MS.first : Math.min(this.#stuckMs * 1.5, STUCK_LOOK_MS.longest);
    this.#pauseMs = Math.max(isMoving ? LEAVING_LOOK_MS : this.#stuckMs, Math.min(askedToWaitMs, STUCK_LOOK_MS.longest));
    this.#ports.report({
      kind: "evicting",
      podsLeft: toEvict.length + leaving.length,
      blocked: blocked.toSorted((a, b) => (a.pod < b.pod ? -1 : 1)).slice(0, BLOCKED_NAMED),
      leaving: leaving.map((pod) => podText(pod)).slice(0, BLOCKED_NAMED),
    });
    return false;
  }

  /** The pods have left: it has ended when their volumes have, or nobody tells that. */
  async #detached(name: string, staying: readonly PodObject[], kubelet: KubeClient, options: KubeCallOptions): Promise<boolean> {
    const { client } = await this.#api({ kind: "volumes" });
    const left = await volumesLeft(name, staying, kubelet, client, options);
    const at = this.#ports.clock.now();
    if (left.kind === "unreported") {
      this.#ports.log.warn(
        { action: "CordonAndDrain", node: name, detail: left.detail },
        "It is not known which volumes are still attached",
      );
      return this.#end({ kind: "drained", at, volumesUnknown: left.detail });
    }
    const { volumes } = left;
    if (volumes.length === 0) return this.#end({ kind: "drained", at });
    this.#pauseMs = this.#stuckMs;
    this.#stuckMs = Math.min(this.#stuckMs * 1.5, STUCK_LOOK_MS.longest);
    this.#ports.report({ kind: "detaching", volumesLeft: volumes.length, volumes: volumes.slice(0, BLOCKED_NAMED) });
    return false;
  }

  /** A client whose certificate has its life before it. */
  async #api(user: DrainUser): Promise<WorkloadApi> {
    const now = this.#ports.clock.now();
    const known = this.#opened.get(user.kind);
    if (known !== undefined && elapsedMs(known.at, now) < CERTIFICATE_IN_USE_MS) return known.api;
    known?.api.close();
    const api = await this.#ports.open(user);
    this.#opened.set(user.kind, { api, at: now });
    return api;
  }

  #end(state: DrainState): true {
    this.#ports.report(state);
    return true;
  }

  #failed(thrown: unknown): boolean {
    const { log, signal } = this.#ports;
    if (signal.aborted) return true;
    // The control planes that run may be others by now.
    this.close();
    this.#pauseMs = this.#stuckMs;
    this.#stuckMs = Math.min(this.#stuckMs * 1.5, STUCK_LOOK_MS.longest);
    if (isEffectError(thrown, "NOT_LEADING", "RECORD_CHANGED", "MODE_CHANGED")) return true;
    log.debug({ action: "CordonAndDrain", err: thrown instanceof Error ? thrown.message : "unknown" }, "The drain made no progress");
    if (isForbidden(thrown)) {
      this.#unreachableMs = undefined;
      this.#ports.report({ kind: "refused", detail: `the API answers ${thrown.code} to ${thrown.call}` });
      return false;
    }
    if (thrown instanceof EffectError) {
      this.#ports.report({ kind: "refused", detail: thrown.detail });
      return false;
    }
    this.#unreachableMs ??= 0;
    this.#ports.report({
      kind: "unreachable",
      detail: thrown instanceof KubeApiError ? thrown.code : "the machine does not report the name of its Node",
    });
    return false;
  }
}
