import type { Action, ClusterFacts } from "@talos-operator/operator/testing";

/**
 * A small world as a value: machines by their stage, etcd by its members, the facts in the record, and what each operator is about to do. Times are whole hours: what
 * happens between two of them is concurrent.
 */
export interface State {
  readonly hour: number;
  readonly lastHour: number;
  /** By index: machine `n` is at 10.0.0.(n+1). */
  readonly machines: readonly ModelMachine[];
  readonly etcd: ModelEtcd | undefined;
  /** How often etcd was bootstrapped. */
  readonly foundings: number;
  /** Machines that the spec lists now, by index. */
  readonly listed: readonly number[];
  /** What a person will list, one after the other, each at any moment. */
  readonly wishes: readonly (readonly number[])[];
  /** Machines that may still die. */
  readonly mayDie: number;
  readonly facts: ClusterFacts;
  readonly operators: readonly ModelOperator[];
  /** Which one holds the lease. */
  readonly leader: number;
  /** Takeovers that may still happen in this hour. */
  readonly takeovers: number;
}

/** `waiting` in maintenance mode; `booting` with its configuration; `up` with it; `wiping` after a reset; `dead` for good. */
export interface ModelMachine {
  readonly stage: "waiting" | "booting" | "up" | "wiping" | "dead";
  /** A configuration is on its disk. */
  readonly isConfigured: boolean;
  /** Counts boots into maintenance mode: its key changes with it. */
  readonly life: number;
  /** Member id; `undefined` = no data. */
  readonly member: string | undefined;
  /** A Bootstrap died in the middle: its etcd has stopped, and only another one starts it again. */
  readonly isStopped?: true;
}

export interface ModelEtcd {
  readonly members: readonly ModelMember[];
  readonly leader: string;
  /** Counts members ever added: ids never come back. */
  readonly added: number;
}

export interface ModelMember {
  readonly id: string;
  readonly machine: number;
  readonly isLearner: boolean;
}

/** One operator: what it decided and has not done yet, and an effect that passed its last check and may take place at any moment. */
export interface ModelOperator {
  /** New leaders do not disturb in the hour of their takeover. */
  readonly mayDisturb: boolean;
  readonly pending: readonly Action[];
  readonly armed: Action | undefined;
  /** Nobody else wrote the record since it decided: its own write would be taken. */
  readonly isCurrent: boolean;
}

export function addressOf(index: number): string {
  return `10.0.0.${index + 1}`;
}

export function indexOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(".") + 1)) - 1;
}

/** Name that the operator gives the machine. */
export function nameOf(index: number): string {
  return `demo-${addressOf(index)}`;
}

/** The machine runs etcd and reaches the others. */
export function isLive(state: State, member: ModelMember): boolean {
  const machine = state.machines[member.machine];
  return machine?.stage === "up" && machine.member === member.id;
}

/** Enough voters live. */
export function hasQuorum(state: State): boolean {
  const voters = (state.etcd?.members ?? []).filter((member) => !member.isLearner);
  return voters.filter((member) => isLive(state, member)).length > voters.length / 2;
}
