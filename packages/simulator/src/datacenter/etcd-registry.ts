import { addLearner, elect, foundCluster, hasQuorum, moveLeader, promoteLearner, removeMember, startMember } from "../etcd/model.ts";
import type { EtcdCluster, EtcdResult, LiveMembers } from "../etcd/model.ts";
import { createHash } from "node:crypto";
import { activeFacts, hostnameOf, secretFingerprint } from "../node/identity.ts";
import { canJoin, etcdRuns } from "../node/step.ts";
import type { MachineInput } from "../node/inputs.ts";
import { etcdMinorOf } from "../node/version.ts";
import { memberShown } from "../resources/member-shown.ts";
import type { Cell } from "./cell.ts";
import type { Surroundings } from "./surroundings.ts";

/** Beside the machines. */
interface EtcdSurroundings extends Surroundings {
  readonly spaces: {
    /** The process of this machine ends before it serves. */
    endsByCheck(cluster: EtcdCluster, cell: Cell): boolean;
  };
  saveEtcd(cluster: EtcdCluster): void;
  /** It was looked at anew who lives. */
  etcdEvaluated(cluster: EtcdCluster): void;
}

/** The etcd clusters of a datacenter and the machines that are their members. */
export class EtcdRegistry {
  readonly #world: EtcdSurroundings;
  readonly #clusters = new Map<string, EtcdCluster>();
  readonly #elections = new Set<string>();

  constructor(world: EtcdSurroundings) {
    this.#world = world;
  }

  all(): readonly EtcdCluster[] {
    return [...this.#clusters.values()];
  }

  get(key: string): EtcdCluster | undefined {
    return this.#clusters.get(key);
  }

  /** What came of the database of an etcd. */
  replace(cluster: EtcdCluster): void {
    this.#put(cluster);
  }

  restore(clusters: readonly EtcdCluster[]): void {
    for (const cluster of clusters) this.#clusters.set(cluster.key, cluster);
  }

  /** The etcd that this machine's data belongs to. */
  of(cell: Cell): EtcdCluster | undefined {
    const key = cell.state.etcd.data?.cluster;
    return key === undefined ? undefined : this.#clusters.get(key);
  }

  /** Members whose process runs and reaches the network. */
  live(key: string): LiveMembers {
    const ids = new Set<string>();
    for (const cell of this.#world.cells()) {
      const { data } = cell.state.etcd;
      if (data?.cluster === key && etcdRuns(cell.state)) ids.add(data.memberId);
    }
    return ids;
  }

  /** More than half of the voters run, and one of them leads. */
  isAvailable(cluster: EtcdCluster | undefined): boolean {
    return cluster?.leader !== undefined && hasQuorum(cluster, this.live(cluster.key));
  }

  found(cell: Cell): void {
    const facts = activeFacts(cell.state);
    if (facts === undefined) return;
    const label = createHash("sha256").update(facts.clusterId).digest("hex").slice(0, 8);
    let number = 1;
    while (this.#clusters.has(`${label}-${number}`)) number += 1;
    const cluster = foundCluster({
      key: `${label}-${number}`,
      clusterId: facts.clusterId,
      secretFingerprint: secretFingerprint(facts.clusterSecret),
      name: hostnameOf(cell.state),
      address: cell.address,
      storage: etcdMinorOf(cell.state.hardware.talosVersion),
    });
    this.#put(cluster);
    const [founder] = cluster.members;
    if (founder !== undefined) cell.dispatch({ kind: "etcd-founded", cluster: cluster.key, memberId: founder.id });
  }

  /** Lets a waiting control plane into an etcd of its cluster, as a learner; without one that answers it goes on waiting. */
  join(cell: Cell): void {
    const facts = activeFacts(cell.state);
    if (facts === undefined || !canJoin(cell.state)) return;
    const fingerprint = secretFingerprint(facts.clusterSecret);
    const home = this.all().find(
      (cluster) =>
        cluster.clusterId === facts.clusterId &&
        cluster.secretFingerprint === fingerprint &&
        this.isAvailable(cluster) &&
        !isTooOld(cluster, cell) &&
        (facts.hasDiscovery || this.#isAtEndpoint(cluster, facts.endpoint)),
    );
    if (home === undefined) return;
    const live = this.live(home.key);
    const name = hostnameOf(cell.state);
    // Its own data directory is empty, so an entry of its name or address is a leftover of itself.
    const stale = home.members.find((member) => member.name === name || member.peerUrl.includes(`//${cell.address}:`));
    let cluster = home;
    if (stale !== undefined) {
      const removed = removeMember(cluster, stale.id, live);
      if (!removed.ok) return;
      cluster = removed.cluster;
    }
    const added = addLearner(cluster, cell.address, live);
    if (!added.ok || added.member === undefined) {
      if (cluster !== home) this.#put(cluster);
      return;
    }
    this.#put(added.cluster);
    cell.dispatch({ kind: "etcd-joined", cluster: home.key, memberId: added.member.id });
  }

  /**
   * Without discovery nobody tells a machine where its cluster's control planes are: it asks at the endpoint of its configuration. Where that is a machine's own
   * address, an etcd without a live member there is not found; an address of no machine leads to whoever serves.
   */
  #isAtEndpoint(cluster: EtcdCluster, endpoint: string): boolean {
    const host = hostOf(endpoint);
    const there = this.#world.cells().find(({ address }) => address === host);
    if (there === undefined) return true;
    const { data } = there.state.etcd;
    return data?.cluster === cluster.key && etcdRuns(there.state);
  }

  promote(cell: Cell): void {
    const cluster = this.of(cell);
    const id = cell.state.etcd.data?.memberId;
    if (cluster === undefined || id === undefined) return;
    const member = cluster.members.find((candidate) => candidate.id === id);
    if (member?.isLearner !== true || cell.state.isEtcdBehind === true) return;
    const promoted = promoteLearner(cluster, id, this.live(cluster.key));
    if (!promoted.ok) return;
    this.#put(promoted.cluster);
    cell.dispatch({ kind: "etcd-promoted" });
  }

  /** The process of this machine has started with data: before it serves it compares them with those of the others. */
  compare(cell: Cell): void {
    const cluster = this.of(cell);
    if (cluster !== undefined && this.#world.spaces.endsByCheck(cluster, cell)) cell.dispatch({ kind: "etcd-differs" });
  }

  /** `undefined` when nobody else can lead. */
  forfeit(cluster: EtcdCluster): EtcdCluster | undefined {
    const moved = moveLeader(cluster, this.live(cluster.key));
    if (moved !== undefined) this.#put(moved);
    return moved;
  }

  /** Removes the member of a machine that is being reset; tells the machine what came of it. */
  leave(cell: Cell): void {
    const cluster = this.of(cell);
    const id = cell.state.etcd.data?.memberId;
    const end = (outcome: Extract<MachineInput, { kind: "etcd-leave-ended" }>["outcome"], message = ""): void =>
      cell.dispatch({ kind: "etcd-leave-ended", outcome, message });
    if (cluster === undefined || id === undefined) return end("left");
    if (memberShown(cell.state, cluster) === undefined) return end("unshown", "failed to get local etcd member ID");
    const left = this.remove(cluster, id, "emptied");
    // Somebody was first: nothing is left to do.
    if (left.ok || left.refusal === "etcdserver: member not found") return end("left");
    end(left.refusal === "etcdserver: unhealthy cluster" ? "not-yet" : "refused", left.refusal);
  }

  /** Removes a member; its machine, if it lives, finds itself removed for good. */
  remove(cluster: EtcdCluster, memberId: string, how: "removed" | "emptied"): EtcdResult {
    const removed = removeMember(cluster, memberId, this.live(cluster.key));
    if (!removed.ok) return removed;
    this.#put(removed.cluster);
    const owner = this.#world
      .cells()
      .find((cell) => cell.state.etcd.data?.cluster === cluster.key && cell.state.etcd.data.memberId === memberId);
    if (owner?.state.power === "on") owner.dispatch({ kind: "etcd-left", how });
    this.evaluate(cluster.key);
    return removed;
  }

  /** Looks again who lives: elects, tells members their health, lets waiting machines in. */
  evaluate(key: string): void {
    const cluster = this.#clusters.get(key);
    if (cluster === undefined) return;
    // An etcd that is older than the data ends as often as it is started.
    for (const cell of this.#world.cells())
      if (cell.state.etcd.data?.cluster === key && etcdRuns(cell.state) && isTooOld(cluster, cell)) cell.dispatch({ kind: "etcd-too-old" });
    const live = this.live(key);
    let next = cluster;
    for (const cell of this.#world.cells()) {
      const { data } = cell.state.etcd;
      if (data?.cluster !== key || !live.has(data.memberId)) continue;
      if (cluster.removedIds.includes(data.memberId)) {
        cell.dispatch({ kind: "etcd-left", how: "removed" });
        continue;
      }
      next = startMember(next, data.memberId, hostnameOf(cell.state));
    }
    const leads = next.leader !== undefined && live.has(next.leader);
    if (!hasQuorum(next, live)) next = elect(next, live);
    else if (!leads) next = this.#elect(next, live);
    next = this.#raised(next, live);
    if (next !== cluster) this.#put(next);
    const isHealthy = this.isAvailable(next);
    for (const cell of this.#world.cells()) {
      const { data } = cell.state.etcd;
      if (data?.cluster !== key || !etcdRuns(cell.state)) continue;
      const isLearner =
        this.#world.timings.etcdCheckMs > 0 && next.members.some((member) => member.id === data.memberId && member.isLearner);
      cell.dispatch({ kind: "etcd-health", isHealthy, isLearner });
    }
    if (isHealthy) this.#promoteLate(next, live);
    if (isHealthy) this.#inviteWaiting(this.#clusters.get(key) ?? next);
    this.#world.etcdEvaluated(this.#clusters.get(key) ?? next);
  }

  /** The data are raised to a newer etcd once every member runs it, and never come back down. */
  #raised(cluster: EtcdCluster, live: LiveMembers): EtcdCluster {
    const { storage, members, key } = cluster;
    if (storage === undefined || cluster.leader === undefined || !members.every(({ id }) => live.has(id))) return cluster;
    let lowest = Number.POSITIVE_INFINITY;
    for (const { state } of this.#world.cells())
      if (state.etcd.data?.cluster === key && live.has(state.etcd.data.memberId))
        lowest = Math.min(lowest, etcdMinorOf(state.hardware.talosVersion));
    return lowest > storage && Number.isFinite(lowest) ? { ...cluster, storage: lowest } : cluster;
  }

  #elect(cluster: EtcdCluster, live: LiveMembers): EtcdCluster {
    const { etcdElectionMs } = this.#world.timings;
    if (etcdElectionMs === 0) return elect(cluster, live);
    if (!this.#elections.has(cluster.key)) {
      this.#elections.add(cluster.key);
      this.#world.timers.schedule(etcdElectionMs, () => {
        this.#elections.delete(cluster.key);
        const current = this.#clusters.get(cluster.key);
        if (this.#world.isClosed || current === undefined) return;
        this.#put(elect(current, this.live(cluster.key)));
        this.evaluate(cluster.key);
      });
    }
    return cluster.leader === undefined ? cluster : { ...cluster, leader: undefined };
  }

  /** A learner whose promotion was refused, because it or the leader was cut off then, asks again as soon as etcd serves. */
  #promoteLate(cluster: EtcdCluster, live: LiveMembers): void {
    for (const cell of this.#world.cells()) {
      const { data, isChecked } = cell.state.etcd;
      const member = cluster.members.find((candidate) => candidate.id === data?.memberId);
      const isPending = cell.state.timers.some((timer) => timer.name === "etcd-promote");
      if (data?.cluster === cluster.key && member?.isLearner === true && live.has(member.id) && isChecked && !isPending) this.promote(cell);
    }
  }

  #inviteWaiting(cluster: EtcdCluster): void {
    // One learner at a time: the others are invited when this one has been promoted.
    if (cluster.members.some((member) => member.isLearner)) return;
    for (const cell of this.#world.cells()) {
      if (!canJoin(cell.state)) continue;
      const facts = activeFacts(cell.state);
      if (facts?.clusterId === cluster.clusterId) cell.dispatch({ kind: "etcd-available" });
    }
  }

  #put(cluster: EtcdCluster): void {
    this.#clusters.set(cluster.key, cluster);
    this.#world.saveEtcd(cluster);
  }
}

/** It would not read the data. */
function isTooOld({ storage }: EtcdCluster, cell: Cell): boolean {
  return storage !== undefined && etcdMinorOf(cell.state.hardware.talosVersion) < storage;
}

/** The host of a URL, an IPv6 address without its brackets. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, "$1") : "";
}
