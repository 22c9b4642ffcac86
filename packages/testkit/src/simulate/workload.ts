import type { KubeClient } from "@talos-operator/kube-runtime";
import type { RandomSource, Timers } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import type { Addons } from "./addons/index.ts";
import type { AskedOfControllers } from "./backups/asked.ts";
import type { StandIn } from "./backups/stand-in.ts";
import type { Composed } from "./composed.ts";
import type { EffectId } from "./effects.ts";
import type { ObjectView } from "./object-view.ts";
import type { TroubleKind } from "./troubles/kinds.ts";
import type { Desired, Scenario } from "./scenario.ts";
import type { Stage } from "./stage.ts";

/**
 * One part of a cluster's life that is played over and over: what it begins with, what is done to it after it is Ready (or in the middle of its
 * making), and what must hold then.
 */
export interface Workload {
  readonly name: string;
  /** One sentence for `--workload list`. */
  readonly about: string;
  /** Draws what it begins with. */
  choose(random: RandomSource): Scenario;
  /** In order; each begins when the one before is reached. None: the life ends with Ready. */
  steps(scenario: Scenario, random: RandomSource): readonly Step[];
  /** Those that crashes are planned for. Default: what operators do to a cluster that is there. */
  readonly effects?: readonly EffectId[];
  /** Those that befall it and no other workload, beside those of all. */
  readonly troubles?: readonly TroubleKind[];
  /** The first step may also come while the cluster is still being made. */
  readonly mayInterrupt?: true;
  /** It never begins with a cluster that is Ready: its edits always come while the cluster is being made. */
  readonly isEarly?: true;
  /** The applied objects do not exist any more in the end: idleness cannot be asked of them. */
  readonly endsDeleted?: true;
}

/** One edit, and what must come of it. */
export interface Step {
  /** For people, in the trace and in violations. */
  readonly what: string;
  make(world: EditableWorld): Promise<void>;
  /** Asked after every event: must be cheap. */
  isReached(world: EditableWorld): boolean;
}

/** What a step may do to a world, and see of it; past every fault. */
export interface EditableWorld {
  readonly scenario: Scenario;
  readonly datacenter: Datacenter;
  readonly client: KubeClient;
  readonly objects: ObjectView;
  /** Where the cluster is a KubernetesCluster: who provides its machines, and its files. */
  readonly composed: Composed | undefined;
  /** Where backups are taken: who gives workers their tasks. */
  readonly backups: StandIn | undefined;
  /** Where controllers decide about backups. */
  readonly askedBackups: AskedOfControllers | undefined;
  /** Where addons are installed: Helm and its workers. */
  readonly addons: Addons | undefined;
  readonly stage: Stage;
  readonly timers: Timers;
  readonly random: RandomSource;
  now(): number;
  /** A line for people who read the trace. */
  trace(line: string): void;
  /** The API of the managed cluster, past the network and every fault; `undefined` before there is one. */
  workload(): KubeClient | undefined;
  /** Applies what is wanted now, with these changes. */
  edit(change: Partial<Desired>): Promise<void>;
  /** Deletes the applied objects. */
  remove(): Promise<void>;
  /**
   * Applies objects where there are none any more, as they were in the beginning but for these changes.
   *
   * @param isNew a new cluster has to come of it, with keys of its own; otherwise what runs is to be found again
   */
  applyAgain(change: Partial<Desired>, isNew: boolean): Promise<void>;
  /** All operators end, and another one starts when the returned function is called. */
  endOperators(): () => void;
  /** Every applied object is Ready by a status of its present spec. */
  isReady(): boolean;
  /** How often the effect took place in this run. */
  took(effect: EffectId): number;
  /** Ends all operators at once and starts one that calls itself a newer release. */
  replaceOperator(): void;
}
