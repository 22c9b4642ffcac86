import type { Cell } from "../datacenter/cell.ts";
import type { World } from "../datacenter/world.ts";
import type { DefragmentTime, EtcdAlarm } from "../node/machine.ts";
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

/** The database of a simulated etcd, for those who fill it and write to it. A refusal is etcd's own text; `undefined` = done. */
export interface EtcdDatabase {
  /** Somebody asked something of it: from then on its writes count. Before, it takes all of them. */
  readonly isWatched: boolean;
  alarms(): readonly RaisedAlarm[];
  /** The file of a member, and how large it may grow. */
  fileOf(memberId: string): { readonly sizeBytes: number; readonly quotaBytes: number };
  /**
   * @param bytes of key and value
   * @param options.keeps `false`: in place of a value of the same size, which stays in the history until a compaction. Default true
   * @param options.at id of the member that is asked; default the leader
   */
  put(bytes: number, options?: { readonly keeps?: boolean; readonly at?: string }): WriteRefusal | undefined;
  erase(bytes: number): WriteRefusal | undefined;
  /** As `etcdctl compact` to the present. While NOSPACE is raised members go on telling what was in use before, until something is erased. */
  compact(): WriteRefusal | undefined;
  /**
   * Every file grows to the smallest quota of the voters, and the next write finds no room.
   *
   * @param inUseShare how much of it is in use: what no defragmentation gives back. Default a quarter
   */
  fill(inUseShare?: number): void;
  /** From now on so much is overwritten every minute. */
  setChurn(bytesPerMinute: number): void;
  /** As `etcdctl defrag` of one member, at once. */
  defragment(memberId: string): void;
  /** Every member has the right data again, as after somebody brought them. Alarms stay. */
  mend(): void;
  /** Takes back every alarm, as `etcdctl alarm disarm` does; returns those that there were. */
  disarm(): readonly RaisedAlarm[];
}

/** The databases of all etcds in a world. An etcd of which nobody asked anything costs nothing here. */
export class EtcdSpaces {
  readonly #world: World;
  readonly #databases = new Map<string, EtcdDatabase>();
  /** Alarms without a cause, by the machine that raised them. */
  readonly #byHand = new Map<Cell, { readonly key: string; readonly alarm: RaisedAlarm }[]>();

  constructor(world: World) {
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
