import type { BackupTask, TaskResult, TaskSecrets } from "@talos-operator/backup";
import { memoryScratch, simulatedCodec } from "@talos-operator/backup/testing";
import { runTask } from "@talos-operator/backup/worker";
import type { Clock, Keys, RandomSource, Timers } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import type { MemoryObjectStore } from "../../world/memory-object-store.ts";
import { rerouted } from "../../world/rerouted.ts";
import type { BackupRules, JudgedCluster } from "../backup-rules.ts";
import type { EffectId } from "../effects.ts";
import type { FaultPlan } from "../fault.ts";
import { faultyTalos, mortalTimers, type FaultyPortOptions } from "../faulty-ports.ts";
import type { Report } from "../violation.ts";
import { createLife, type Life } from "../life.ts";
import type { EffectCounts } from "../run-result.ts";
import type { SecretRules } from "../secret-rules.ts";
import type { Stage } from "../stage.ts";
import type { Trace } from "../trace.ts";
import { faultyStore } from "./faulty-store.ts";

export interface WorkersInput {
  readonly clock: Clock;
  /** By which the store and the workers count days. */
  readonly storeClock: Clock;
  readonly timers: Timers;
  readonly stream: (n: number) => RandomSource;
  readonly keys: Keys;
  readonly datacenter: Datacenter;
  readonly store: MemoryObjectStore;
  readonly plan: FaultPlan;
  readonly rules: BackupRules;
  readonly secrets: SecretRules;
  readonly stage: Stage;
  readonly trace: Trace;
  readonly count: (effect: EffectId) => EffectCounts;
  readonly report: Report;
}

/** Processes that work on backups, each with a life of its own: a crash of one is no crash of the operator. */
export interface Workers {
  start(cluster: JudgedCluster, task: BackupTask, secrets: TaskSecrets): Worker;
  /** When the last one ended so far. Milliseconds since the epoch. */
  readonly endedAt: number;
  stop(): void;
}

export interface Worker {
  readonly life: Life;
  /** What it said in the end; `undefined` once it died without a word. */
  result(): TaskResult | undefined;
  isOver(): boolean;
}

/** A result is a termination message. */
const MOST_RESULT_BYTES = 4_096;

export function createWorkers(input: WorkersInput): Workers {
  const { plan, rules, secrets, stage, trace, count, report, timers, clock, storeClock } = input;
  const lives: Life[] = [];
  let started = 0;
  let endedAt = storeClock.now();

  const portsOf = (life: Life, random: RandomSource, name: string): FaultyPortOptions => ({
    life,
    plan,
    random,
    timers,
    interference: stage.interference,
    onSent: (effect, detail, _address, credentials) => {
      count(effect).sent += 1;
      trace.add(`${name} sends ${effect} ${detail}`);
      const { certificate } = credentials as { readonly certificate?: string };
      const roles = certificate === undefined ? [] : input.keys.describeCertificate(certificate).organizations;
      if (roles.join() !== "os:etcd:backup") report("T12", `a snapshot is asked for with the roles [${roles.join(", ")}]`);
      return Promise.resolve();
    },
    onEffect: (effect, detail) => {
      count(effect).tookEffect += 1;
      trace.add(`effect ${effect} ${detail}`);
      return Promise.resolve();
    },
    onLie: (effect, fault) => {
      count(effect)[fault] += 1;
      trace.add(`lie ${fault} ${effect}`);
    },
    onLate: () => undefined,
    onRead: () => undefined,
    onAsked: () => undefined,
    onLeaseRead: () => undefined,
    lie: () => undefined,
    watchesGoOn: () => Promise.resolve(),
    inspect: () => undefined,
  });

  return {
    get endedAt() {
      return endedAt;
    },
    start(cluster, task, taskSecrets) {
      started += 1;
      const name = `worker ${started}`;
      const end = (): void => {
        endedAt = storeClock.now();
      };
      const life = createLife(
        () => {
          trace.add(`${name} dies`);
          end();
        },
        () => report("Cost", `${name} sends requests without end`),
      );
      lives.push(life);
      // What it is told may be read by whoever may read Jobs.
      secrets.inspectText("the task of a worker", JSON.stringify(task));
      trace.add(`${name} starts: ${task.kind} ${"slot" in task ? task.slot : task.slots.join(" ")}`);
      const ports = portsOf(life, input.stream(20_000 + started), name);
      const mayRemove = new Set(task.kind === "remove" ? task.slots : []);
      const store = faultyStore(input.store, {
        ...ports,
        onSent: (effect, { method, key }) => {
          count(effect).sent += 1;
          trace.add(`${name} sends ${effect} ${method} ${key}`);
        },
        onEffect: (effect, call, bytes) => {
          count(effect).tookEffect += 1;
          trace.add(`effect ${effect} ${call.method} ${call.key}`);
          rules.changed(cluster, effect, call, bytes, mayRemove);
        },
      });
      let result: TaskResult | undefined;
      void runTask(task, taskSecrets, {
        dialer: faultyTalos(rerouted(input.datacenter.dialer(clock), stage.routes), ports),
        openStore: () => store,
        codec: simulatedCodec,
        scratch: memoryScratch(),
        clock: storeClock,
        timers: mortalTimers(timers, life),
        random: input.stream(30_000 + started),
        log: secrets.log,
      }).then((told) => {
        if (!life.isAlive) return;
        end();
        const text = JSON.stringify(told);
        secrets.inspectText("the result of a worker", text);
        if (Buffer.byteLength(text) > MOST_RESULT_BYTES) report("Cost", `a result has ${Buffer.byteLength(text)} bytes`);
        if (told.kind === "removed") rules.removed(cluster, told);
        trace.add(`${name} ends: ${told.kind}${told.kind === "failed" ? ` ${told.reason}: ${told.message}` : ""}`);
        result = told;
      });
      return { life, result: () => result, isOver: () => result !== undefined || !life.isAlive };
    },
    stop() {
      for (const life of lives) life.crash();
    },
  };
}
