import { KubeApiError } from "@talos-operator/kube-runtime";
import type { Logger, Timers } from "@talos-operator/ports";
import { elapsedMs } from "../elapsed.ts";
import { isEffectError } from "../errors.ts";
import { forecastDrains } from "../planning/drain-forecast.ts";
import { runDrain } from "./drain-run.ts";
import type { DrainPorts } from "./drain-run.ts";
import { evict } from "./evict.ts";
import { nodeType, podType } from "./kinds.ts";
import type { NodeObject, PodObject } from "./kinds.ts";
import { readDrainObjects } from "./read-drain-objects.ts";
import { seenNode } from "./seen-node.ts";
import { openWorkloadApi } from "./workload-api.ts";
import type { WorkloadApi, WorkloadPlace, WorkloadPorts, WorkloadUser } from "./workload-api.ts";
import type { DrainState, NodeOwner, OwnPod, SeenAhead, SeenDrain, SeenNode, SeenNodes } from "../model/workload.ts";

/** A drain that no rule has asked for in this time is given up. */
const WANTED_MS = 60_000;

/** A drain that had to end before it told anything is begun anew after this pause: what ended it may be seen by then. */
const BEGIN_ANEW_MS = 2_000;

/** Longest that one call may take. */
const CALL_MS = 5_000;

/** What a drain is about. */
export interface DrainRequest extends NodeOwner {
  readonly machine: string;
  /** The pod of this process stays: it goes when what follows the drain is written down. */
  readonly keepsItself?: true;
  readonly why: string;
}

interface Running {
  readonly abort: AbortController;
  readonly startedAt: number;
  askedAt: number;
  ranMs: number;
  unreachableMs: number;
  state: DrainState | undefined;
  hasEnded: boolean;
}

/**
 * What this process does in the cluster it manages, beside the passes over it: drains, and looks at Nodes. A pass reads what they last told and never
 * waits for them; they wake it when they have something new to tell.
 */
export class ClusterWorkload {
  readonly #ports: WorkloadPorts & { readonly timers: Timers; readonly pod?: OwnPod | undefined };
  readonly #wake: () => void;
  readonly #drains = new Map<string, Running>();
  #nodes: SeenNodes = { at: Number.NEGATIVE_INFINITY, nodes: undefined, isAsking: false, isStale: true, cordoned: new Map() };
  #ahead: SeenAhead = { at: Number.NEGATIVE_INFINITY, isAsking: false, says: undefined, isUnanswered: false };
  #isClosed = false;

  constructor(ports: WorkloadPorts & { readonly timers: Timers; readonly pod?: OwnPod | undefined }, wake: () => void) {
    this.#ports = ports;
    if (ports.pod !== undefined) this.#nodes = { ...this.#nodes, own: { kind: "unknown" } };
    this.#wake = wake;
  }

  /** The drains of this process. Gives up those that nobody has asked for any more. */
  drains(): ReadonlyMap<string, SeenDrain> {
    const now = this.#ports.clock.now();
    for (const [machine, drain] of this.#drains) if (elapsedMs(drain.askedAt, now) >= WANTED_MS) this.forget(machine);
    return new Map(
      [...this.#drains].map(([machine, drain]) => {
        const { startedAt, askedAt, ranMs, unreachableMs, state } = drain;
        return [machine, { startedAt, askedAt, ranMs, unreachableMs, state }] as const;
      }),
    );
  }

  nodes(): SeenNodes {
    return this.#nodes;
  }

  ahead(): SeenAhead {
    return this.#ahead;
  }

  /** Begins a drain, or keeps it going; one that has ended is run again. */
  ask(
    { machine, why, keepsItself, ...owner }: DrainRequest,
    ports: Pick<DrainPorts, "nodeName" | "demand" | "log">,
    place: WorkloadPlace,
  ): void {
    if (this.#isClosed) return;
    const { clock, timers } = this.#ports;
    const known = this.#drains.get(machine);
    if (known !== undefined) known.askedAt = clock.now();
    if (known?.hasEnded === false) return;
    const drain: Running = {
      abort: new AbortController(),
      startedAt: known?.startedAt ?? clock.now(),
      askedAt: clock.now(),
      ranMs: 0,
      unreachableMs: 0,
      state: undefined,
      hasEnded: false,
    };
    this.#drains.set(machine, drain);
    const report = (state: DrainState): void => {
      const isNews = JSON.stringify(state) !== JSON.stringify(drain.state);
      drain.state = state;
      if (isNews && this.#drains.get(machine) === drain) this.#wake();
    };
    const run = runDrain(owner, why, {
      ...ports,
      ...(keepsItself === true && this.#ports.pod !== undefined ? { stays: this.#ports.pod.uid } : {}),
      clock,
      timers,
      signal: drain.abort.signal,
      open: (user) => this.#open(user, place),
      report,
      passed: (times) => Object.assign(drain, times),
      cordoned: (name) => {
        this.#nodes = { ...this.#nodes, isStale: true, cordoned: new Map([...this.#nodes.cordoned, [machine, name]]) };
      },
    });
    const failed = (err: unknown): void => {
      ports.log.error({ action: "CordonAndDrain", machine, err }, "The drain failed; it begins anew when it is asked for");
    };
    void run.catch(failed).then(() => this.#ended(machine, drain));
  }

  /** Ends a drain: its machine is being disturbed, or nobody wants it any more. The cordon stays for a rule to take off. */
  forget(machine: string): void {
    this.#drains.get(machine)?.abort.abort();
    this.#drains.delete(machine);
  }

  /** The Node of this machine is schedulable again, or gone: what waits for that needs not wait for the next list. */
  released(machine: string, node: string): void {
    this.forget(machine);
    this.#nodes = {
      ...this.#nodes,
      nodes: this.#nodes.nodes?.map((seen) => (seen.name === node ? { ...seen, isCordonedByUs: false } : seen)),
      cordoned: new Map([...this.#nodes.cordoned].filter(([name]) => name !== machine)),
    };
  }

  /** The taint of upgrades stands on these Nodes, or does not any more: no list is awaited to know that. */
  tainted(names: readonly string[], hasUpgradeTaint: boolean): void {
    const changed = new Set(names);
    const nodes = this.#nodes.nodes?.map((node) => (changed.has(node.name) ? { ...node, hasUpgradeTaint } : node));
    const others = [...(this.#nodes.tainted ?? [])].filter((name) => !changed.has(name));
    this.#nodes = { ...this.#nodes, nodes, tainted: new Set(hasUpgradeTaint ? [...others, ...changed] : others) };
  }

  /** What was listed is not how it is any more. */
  staleNodes(): void {
    this.#nodes = { ...this.#nodes, isStale: true };
  }

  /** Lists Nodes in the background. */
  lookAtNodes(place: WorkloadPlace, log: Logger): void {
    if (this.#isClosed || this.#nodes.isAsking) return;
    this.#nodes = { ...this.#nodes, at: this.#ports.clock.now(), isAsking: true, isStale: false };
    void this.#list(place, log);
  }

  /** Asks in the background what would hold up drains. */
  lookAhead(place: WorkloadPlace, log: Logger): void {
    if (this.#isClosed || this.#ahead.isAsking) return;
    this.#ahead = { ...this.#ahead, at: this.#ports.clock.now(), isAsking: true };
    void this.#askAhead(place, log);
  }

  /** Evicts the pod of this process, which ends it: what goes on is written down for the next one. */
  async evictItself(node: string, place: WorkloadPlace, demand: () => Promise<number>): Promise<void> {
    const { pod } = this.#ports;
    if (pod === undefined) return;
    await this.use({ kind: "node", name: node }, place, async (client, timeoutMs) => {
      const options = { timeoutMs: Math.min(timeoutMs, await demand()) };
      await evict(client, { apiVersion: "v1", kind: "Pod", metadata: pod }, options);
    });
  }

  /** Uses the API once, as this user. */
  async use<T>(user: WorkloadUser, place: WorkloadPlace, work: (api: WorkloadApi["client"], timeoutMs: number) => Promise<T>): Promise<T> {
    const api = await this.#open(user, place);
    try {
      return await work(api.client, CALL_MS);
    } finally {
      api.close();
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const machine of this.#drains.keys()) this.forget(machine);
  }

  #open(user: WorkloadUser, place: WorkloadPlace): Promise<WorkloadApi> {
    return openWorkloadApi(user, place, this.#ports);
  }

  async #ended(machine: string, drain: Running): Promise<void> {
    drain.hasEnded = true;
    if (drain.state === undefined && this.#drains.get(machine) === drain) {
      await this.#ports.timers.sleep(BEGIN_ANEW_MS);
      if (this.#drains.get(machine) === drain) this.#drains.delete(machine);
    }
    if (!this.#isClosed) this.#wake();
  }

  /** A pod stays on its Node, and this process in its pod: what was found once is so. */
  async #findItself(client: WorkloadApi["client"], timeoutMs: number): Promise<void> {
    const { pod } = this.#ports;
    if (pod === undefined || this.#nodes.own?.kind !== "unknown") return;
    const { namespace, name, uid } = pod;
    const { items } = await client.resource<PodObject>(podType).list({ namespace, fieldSelector: `metadata.name=${name}`, timeoutMs });
    const found = items.find(({ metadata }) => metadata?.uid === uid)?.spec?.nodeName;
    this.#nodes = { ...this.#nodes, own: found === undefined ? { kind: "elsewhere" } : { kind: "here", name: found } };
  }

  async #askAhead(place: WorkloadPlace, log: Logger): Promise<void> {
    let says: readonly string[] | undefined;
    let detail = "the keys of the cluster cannot be used";
    try {
      says = await this.use({ kind: "nodes" }, place, (nodes, timeoutMs) =>
        this.use({ kind: "budgets" }, place, async (budgets) => forecastDrains(await readDrainObjects(nodes, budgets, { timeoutMs }))),
      );
    } catch (thrown) {
      if (thrown instanceof KubeApiError) detail = `its own API answers ${thrown.code} to ${thrown.call}`;
      log.debug(
        { action: "LookAhead", err: thrown instanceof Error ? thrown.message : "unknown" },
        "What would hold up drains is not known",
      );
    }
    const unknown = [`Budgets that would hold up drains, and room for evicted pods, are not known: ${detail}.`];
    this.#ahead = { ...this.#ahead, isAsking: false, says: says ?? unknown, isUnanswered: says === undefined };
    if (!this.#isClosed) this.#wake();
  }

  async #list(place: WorkloadPlace, log: Logger): Promise<void> {
    let nodes: readonly SeenNode[] | undefined;
    const askedAt = this.#nodes.at;
    try {
      nodes = await this.use({ kind: "nodes" }, place, async (client, timeoutMs) => {
        const { items } = await client.resource<NodeObject>(nodeType).list({ timeoutMs });
        await this.#findItself(client, timeoutMs);
        return items.map((node) => seenNode(node));
      });
    } catch (thrown) {
      const err = thrown instanceof Error ? thrown.message : "unknown";
      if (!isEffectError(thrown)) log.debug({ action: "LookAtNodes", err }, "The cluster's own API lists no Nodes now");
    }
    this.#nodes = {
      ...this.#nodes,
      ...(nodes === undefined ? {} : { nodes, listedAt: askedAt }),
      isUnanswered: nodes === undefined,
      isAsking: false,
      isStale: this.#nodes.isStale || nodes === undefined,
    };
    if (!this.#isClosed) this.#wake();
  }
}
