import type { Cell } from "../datacenter/cell.ts";
import type { EtcdRegistry } from "../datacenter/etcd-registry.ts";
import type { Surroundings } from "../datacenter/surroundings.ts";
import type { DefragmentTime, EtcdAlarm } from "../node/machine.ts";
import type { EtcdDatabase } from "./etcd-database.ts";
import type { EtcdCluster } from "./model.ts";
import {
  compact,
  compared,
  defragmented,
  differs,
  erase,
  filled,
  newSpace,
  put,
  quotaOf,
  raised,
  settled,
  sizesOf,
  told,
} from "./space.ts";
import type { EtcdSpace, RaisedAlarm, SpaceMember, WriteOutcome, WriteRefusal } from "./space.ts";

const gib = 1_073_741_824;

/** The databases of all etcds in a world. An etcd of which nobody asked anything costs nothing here. */
export class EtcdSpaces {
  readonly #world: Surroundings & { readonly etcd: EtcdRegistry };
  readonly #databases = new Map<string, EtcdDatabase>();
  /** Alarms without a cause, by the machine that raised them. */
  readonly #byHand = new Map<Cell, { readonly key: string; readonly alarm: RaisedAlarm }[]>();

  constructor(world: Surroundings & { readonly etcd: EtcdRegistry }) {
    this.#world = world;
  }

  databaseOf(key: string): EtcdDatabase | undefined {
    if (this.#world.etcd.get(key) === undefined) return undefined;
    const known = this.#databases.get(key) ?? this.#open(key);
    this.#databases.set(key, known);
    return known;
  }

  /** What the member of a machine tells of its file. */
  sizesOf(cell: Cell, cluster: EtcdCluster): ReturnType<typeof sizesOf> {
    return sizesOf(this.#settled(cluster.key), cell.state.etcd.data?.memberId ?? "");
  }

  alarmsOf(cluster: EtcdCluster): readonly RaisedAlarm[] {
    return this.#settled(cluster.key)?.alarms ?? [];
  }

  /** How long the member of a machine takes to defragment: it copies what is in use. */
  defragmentTimeOf(cell: Cell, cluster: EtcdCluster): DefragmentTime {
    const space = this.#settled(cluster.key);
    const { inUseBytes } = sizesOf(space === undefined ? undefined : told(space), "");
    return cell.state.etcdDefragmentTime ?? Math.floor((inUseBytes / gib) * this.#world.timings.etcdDefragmentMsPerGib);
  }

  defragmented(cell: Cell): void {
    const { data } = cell.state.etcd;
    if (data === undefined || this.#settled(data.cluster) === undefined) return;
    this.#change(data.cluster, (space) => defragmented(space, data.memberId));
  }

  /** See `SimulatedMachine.setEtcdAlarm`. */
  setAlarm(cell: Cell, alarm: EtcdAlarm | undefined): void {
    const mine = this.#byHand.get(cell) ?? [];
    if (alarm === undefined) {
      this.#byHand.delete(cell);
      for (const { key, alarm: old } of mine)
        this.#change(key, (space) => ({
          ...space,
          alarms: space.alarms.filter((one) => one.memberId !== old.memberId || one.alarm !== old.alarm),
        }));
      return;
    }
    const { data } = cell.state.etcd;
    if (data === undefined) return;
    this.#byHand.set(cell, [...mine, { key: data.cluster, alarm: { memberId: data.memberId, alarm } }]);
    this.#change(data.cluster, (space) => raised(space, data.memberId, alarm));
  }

  /** See `SimulatedMachine.corruptEtcd`. */
  corrupt(cell: Cell, data = cell.address): void {
    const member = cell.state.etcd.data;
    if (member === undefined) return;
    this.#change(member.cluster, (space, members, leader) => {
      const wrong = { ...space, variants: { ...space.variants, [member.memberId]: data } };
      return leader === undefined ? wrong : compared(wrong, members, leader);
    });
  }

  /** The data of a member differ from what etcd has; the word for what they are instead. */
  variantOf(cell: Cell, cluster: EtcdCluster): string | undefined {
    return cluster.space?.variants[cell.state.etcd.data?.memberId ?? ""];
  }

  /**
   * The process of this machine, which has just started with data, ends before it serves: another member answers with other data. Talos starts every etcd with
   * that check; one that joins for the first time has nothing to compare.
   */
  endsByCheck(cluster: EtcdCluster, cell: Cell): boolean {
    const id = cell.state.etcd.data?.memberId;
    if (cluster.space === undefined || id === undefined) return false;
    if (cluster.members.find((member) => member.id === id)?.isStarted !== true) return false;
    const live = this.#world.etcd.live(cluster.key);
    const answering = this.#world
      .cells()
      .flatMap(({ state: { etcd } }) =>
        etcd.data !== undefined && etcd.isChecked && live.has(etcd.data.memberId) ? [etcd.data.memberId] : [],
      );
    return differs(cluster.space, id, answering);
  }

  #open(key: string): EtcdDatabase {
    const write = (
      change: (space: EtcdSpace, members: readonly SpaceMember[], leader: string) => WriteOutcome,
    ): WriteRefusal | undefined => {
      let refusal: WriteRefusal | undefined;
      this.#change(key, (space, members, leader) => {
        const outcome = change(space, members, leader ?? "");
        ({ refusal } = outcome);
        return outcome.space;
      });
      return refusal;
    };
    const isWatched = (): boolean => this.#world.etcd.get(key)?.space !== undefined;
    return {
      get isWatched() {
        return isWatched();
      },
      alarms: () => this.#settled(key)?.alarms ?? [],
      fileOf: (memberId) => {
        const cluster = this.#world.etcd.get(key);
        const member = cluster === undefined ? undefined : this.#membersOf(cluster).find(({ id }) => id === memberId);
        return { sizeBytes: sizesOf(this.#settled(key), memberId).sizeBytes, quotaBytes: member?.quotaBytes ?? quotaOf(undefined) };
      },
      put: (bytes, { keeps = true, at } = {}) => write((space, members, leader) => put(space, members, { at: at ?? leader, bytes, keeps })),
      erase: (bytes) => write((space) => erase(space, bytes)),
      compact: () => write((space, members) => compact(space, members)),
      fill: (inUseShare = 0.25) => this.#change(key, (space, members) => filled(space, members, inUseShare)),
      setChurn: (churnBytesPerMinute) => this.#change(key, (space) => ({ ...space, churnBytesPerMinute })),
      defragment: (memberId) => this.#change(key, (space) => defragmented(space, memberId)),
      mend: () => this.#change(key, (space) => ({ ...space, variants: {} })),
      disarm: () => {
        const alarms = this.#settled(key)?.alarms ?? [];
        if (alarms.length > 0) this.#change(key, (space) => ({ ...told(space), alarms: [] }));
        return alarms;
      },
    };
  }

  /** What has come of the database by now; `undefined` for one of which nobody asked anything. */
  #settled(key: string): EtcdSpace | undefined {
    if (this.#world.etcd.get(key)?.space === undefined) return undefined;
    return this.#change(key, (space) => space);
  }

  #change(
    key: string,
    change: (space: EtcdSpace, members: readonly SpaceMember[], leader: string | undefined) => EtcdSpace,
  ): EtcdSpace | undefined {
    const { etcd, clock } = this.#world;
    const cluster = etcd.get(key);
    if (cluster === undefined) return undefined;
    const members = this.#membersOf(cluster);
    const leader = etcd.isAvailable(cluster) ? cluster.leader : undefined;
    const now = clock.now();
    const space = change(settled(cluster.space ?? newSpace(now), members, { leader, now }), members, leader);
    if (space !== cluster.space) etcd.replace({ ...cluster, space });
    return space;
  }

  #membersOf(cluster: EtcdCluster): readonly SpaceMember[] {
    const live = this.#world.etcd.live(cluster.key);
    const states = new Map(this.#world.cells().map(({ state: { etcd } }) => [etcd.data?.memberId, etcd]));
    return cluster.members.map(({ id, isLearner }) => {
      const etcd = states.get(id);
      const compares = etcd?.comparesWithLeader === undefined ? {} : { comparesWithLeader: etcd.comparesWithLeader };
      return { id, isLearner, isLive: live.has(id), quotaBytes: quotaOf(etcd?.quotaBytes), ...compares };
    });
  }
}
