import type { RaisedAlarm, WriteRefusal } from "./space.ts";

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
