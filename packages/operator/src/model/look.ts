import type { ReadyReason } from "@talos-operator/api";
import type { MachineName } from "./machine.ts";

/**
 * What one look at a machine showed. Plain data: rules are functions of it.
 *
 * No answer, an empty answer and "not asked yet" are three different things, here and in every field that can be any of them.
 */
export type Look = NotAsked | Silent | NotTalos | InMaintenance | Running | ForeignIdentity;

/** Nobody has asked yet, or the answer belongs to an earlier question. */
export interface NotAsked {
  readonly kind: "not-asked";
}

/** The machine did not answer: refused, unreachable, timed out, or between two modes. */
export interface Silent {
  readonly kind: "silent";
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** First of the failed looks in a row; later by as much as the clock was set forward since. */
  readonly since: number;
  /** A short, safe sentence: never longer than 200 characters, no control characters. */
  readonly detail: string;
  /** Set when something may answer, and is not to be believed or not to be asked: why, and what a person can do. */
  readonly stopped?: { readonly reason: ReadyReason; readonly message: string };
  /** What answers with this cluster's certificate and shows other hardware than was written down, where nothing but a person can say whether it is the machine. */
  readonly claimed?: { readonly spki: string; readonly macs: readonly string[] };
}

/** Something answers at the address, but it does not speak the Talos API. */
export interface NotTalos {
  readonly kind: "not-talos";
  readonly at: number;
  readonly detail: string;
}

/** The machine waits in maintenance mode. */
export interface InMaintenance {
  readonly kind: "maintenance";
  readonly at: number;
  /** First of the looks in a row that showed this key; later by as much as the clock was set forward since. */
  readonly since: number;
  /** base64(SHA-256(SubjectPublicKeyInfo)) of the self-signed certificate; new at each boot. */
  readonly spki: string;
  /** For example `v1.13.9`; `undefined` when the machine does not tell. */
  readonly version: string | undefined;
  /** For example `metal`, `container`; `undefined` when the machine does not tell. */
  readonly platform: string | undefined;
  /** SMBIOS UUID; `undefined` where there is none (containers). */
  readonly uuid: string | undefined;
  /** Lower case, sorted. */
  readonly macs: readonly string[];
  /** `undefined` = the machine did not say. */
  readonly disks: readonly SeenDisk[] | undefined;
  /** Addresses that others may reach it at, without prefix lengths; asked only where it matters. Absent = not asked or not told. */
  readonly addresses?: readonly string[];
}

/** The machine runs a configuration of ours: it proved so with a certificate of the cluster's authority. */
export interface Running {
  readonly kind: "running";
  readonly at: number;
  readonly version: string | undefined;
  readonly platform: string | undefined;
  /** COSI MachineStatus: `booting`, `installing`, `running`, ...; `undefined` = not told. */
  readonly stage: string | undefined;
  readonly ready: boolean;
  readonly unmet: readonly UnmetCondition[];
  /** Control planes only; `undefined` on workers. */
  readonly etcd: SeenEtcd | undefined;
  /**
   * First of the looks in a row at which its etcd did not serve as a voter should, counted anew from its promotion; later by as much as the clock was set forward since.
   * Absent = it serves, or nobody watches the machine.
   */
  readonly etcdUnwellSince?: number;
  /** `undefined` = not told. */
  readonly hardware?: Hardware;
  /** Name of its Kubernetes Node; absent = not told yet. */
  readonly nodeName?: string;
  /** The name that it reported before that one, to this process; absent = it reported no other. */
  readonly nodeNameBefore?: string;
  /** Other machines of the cluster that report the same Node: none of them is ready by it. Absent = there are none. */
  readonly sharesNode?: readonly MachineName[];
  /** Id of the schematic that its Talos was built from, which brings its extensions; `none` = it was built from none. Absent = not told yet. */
  readonly schematic?: string;
  /** Names of its system extensions; absent = not told yet. */
  readonly extensions?: readonly string[];
  /** Discovery is on, by what the machine shows; asked only where it matters. Absent = not asked or not told. */
  readonly discovers?: boolean;
  /** base64(SHA-256(SubjectPublicKeyInfo)) of its certificate, which changes every few hours; absent when it was looked at through another machine, or shows a UUID. */
  readonly spki?: string;
}

/** What tells a machine from others of its kind. */
export interface Hardware {
  /** SMBIOS UUID; `undefined` where there is none (containers). */
  readonly uuid: string | undefined;
  /** Lower case, sorted. */
  readonly macs: readonly string[];
}

/** Presents a certificate that the cluster's authority did not sign, or refuses a certificate that it did sign. */
export interface ForeignIdentity {
  readonly kind: "foreign";
  /** A certificate was refused for its dates alone: it may well be ours, and a clock wrong. */
  readonly isByTime?: true;
  readonly at: number;
  readonly detail: string;
}

/** The Talos that answers. */
export interface SeenVersion {
  /** For example `v1.13.9`; `undefined` when the machine does not tell. */
  readonly version: string | undefined;
  /** For example `metal`, `container`; `undefined` when the machine does not tell. */
  readonly platform: string | undefined;
}

/** A condition that keeps a machine from being ready, in its own words. */
export interface UnmetCondition {
  readonly name: string;
  readonly reason: string;
}

/** A disk as the machine lists it. */
export interface SeenDisk {
  readonly path: string;
  readonly sizeBytes: number;
  readonly transport: string;
  readonly isReadOnly: boolean;
  readonly isCdrom: boolean;
  /** Labels or file systems found on it that are not Talos's own; `undefined` = not told. */
  readonly foreignContent: readonly string[] | undefined;
  /** What selectors and links find it by; absent = not told. */
  readonly facts?: SeenDiskFacts;
}

/** What a disk is, in its own words. Empty = not told. */
export interface SeenDiskFacts {
  readonly model: string;
  readonly serial: string;
  readonly wwid: string;
  readonly uuid: string;
  readonly modalias: string;
  readonly busPath: string;
  readonly isRotational: boolean;
  /** Other names of it, such as `/dev/disk/by-id/...`. */
  readonly symlinks: readonly string[];
}

/** etcd on one machine, as that machine tells it. */
export interface SeenEtcd {
  /** State of the service (`Preparing`, `Running`, ...); `undefined` = not told. */
  readonly service: string | undefined;
  readonly isHealthy: boolean;
  /** Own member id in hex; `"none"` = the machine says that it has none; `undefined` = not told. */
  readonly localMember: string | undefined;
  /**
   * Its data directory holds something; asked where etcd has stopped or waits, and of everybody before a bootstrap. Absent = not asked or not told. That there is no
   * local member proves nothing: the resource that tells it goes with the health of etcd.
   */
  readonly hasData?: boolean;
  /** The machine's own list; asked only where etcd runs. `undefined` = not asked or not answered. */
  readonly members: readonly EtcdMember[] | undefined;
  /** Member id of the leader in hex, `0` for none; `undefined` = not told. */
  readonly leader: string | undefined;
  /** What etcd complains about beside a missing leader (`NOSPACE`, `CORRUPT`, ...), bounded; absent = nothing, or not asked. */
  readonly alarms?: readonly string[];
  /** The alarms among them: those of all members, for every member knows them. Absent = none, or not told. */
  readonly raised?: readonly SeenAlarm[];
  /** Version of what is in the member's file, `3.6.0`: an older etcd does not read it. Absent = not told. */
  readonly storage?: string;
  /** Size of the member's file, which its quota is held against. Absent = not told. Two looks that differ in sizes alone are the same. */
  readonly dbSizeBytes?: number;
  /** What of the file is in use: the rest is what a defragmentation gives back. Absent = not told. */
  readonly dbInUseBytes?: number;
  /** How large the file may grow, `Infinity` for any size; asked only while an alarm says that one is full. Absent = not asked, not told, or no number. */
  readonly quotaBytes?: number;
  /**
   * Its etcd compares the others with itself when it leads (`corrupt-check-time`), so that an alarm of corrupt data may name a right one; or it does not tell. Asked only
   * while there is such an alarm.
   */
  readonly comparesWithLeader?: true;
}

/** An alarm of etcd. It stays when its member is removed. */
export interface SeenAlarm {
  /** Hex, 16 digits; all 0 = the data of members differ, and no majority says whose are right. */
  readonly member: string;
  readonly kind: "no-space" | "corrupt" | "unknown";
}

/** A member of etcd. */
export interface EtcdMember {
  /** Hex, 16 digits. */
  readonly id: string;
  readonly name: string;
  readonly isLearner: boolean;
  readonly peerUrls: readonly string[];
}
