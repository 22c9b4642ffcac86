import type { AddonRunner, AddonRunRequest } from "@talos-operator/operator";
import type { Clock, RandomSource, Timers } from "@talos-operator/ports";
import { createSimulatedHelm, TAKES_MS } from "../../world/simulated-helm.ts";
import type { HelmFault, SimulatedHelm } from "../../world/simulated-helm.ts";
import type { EffectId } from "../effects.ts";
import { pick } from "../fault.ts";
import type { FaultClass, FaultPlan } from "../fault.ts";
import { settled, withFault } from "../faulty-ports.ts";
import type { Report } from "../violation.ts";
import { never, type Life } from "../life.ts";
import type { ObjectView } from "../object-view.ts";
import type { EffectCounts } from "../run-result.ts";
import { ENDPOINT } from "../scenario.ts";
import type { SecretRules } from "../secret-rules.ts";
import type { Trace } from "../trace.ts";
import { createAddonRules } from "./rules.ts";

export interface AddonsInput {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly stream: (n: number) => RandomSource;
  readonly objects: ObjectView;
  readonly plan: FaultPlan;
  readonly secrets: SecretRules;
  readonly trace: Trace;
  readonly count: (effect: EffectId) => EffectCounts;
  readonly report: Report;
  /** A person paused the cluster so long ago that everybody knows. */
  readonly isPaused: () => boolean;
}

/** What belongs to addons in one world: Helm and its workers, which outlive operators. */
export interface Addons {
  readonly helm: SimulatedHelm;
  /** As one operator sees them: what it asks once it is dead has no effect, and it hears nothing. */
  runnerFor(life: Life): AddonRunner;
  /** While set, one run of three fails, hangs or dies. */
  fail(isFailing: boolean): void;
  /** What Helm runs in the cluster under this name, `namespace/name`; `undefined` = nothing that is deployed. */
  deployed(release: string): { readonly inputs: string | undefined; readonly values: readonly string[] } | undefined;
  /** No run is left. */
  isIdle(): boolean;
  /** What is not over yet, for people. */
  waitsFor(): readonly string[];
  /** A person deletes this release. */
  deletesByHand(release: string): void;
}

/** The API keeps a request for at most so long. Milliseconds. */
const LATEST_MS = 60_000;

/** What Helm tells when it fails. */
const FAILURES = ["cluster-unreachable", "cluster-refused", "hook-failed", "repository-unreachable", "failed"] as const;

/** What a planned fault is to a run: it is its worker that it befalls. */
const befalls: Readonly<Record<FaultClass, HelmFault["kind"]>> = {
  C0: "never",
  C1: "lost",
  C2: "never",
  C3: "lost",
  M: "dies",
  B: "failed",
  D: "twice",
  R: "lost",
  L: "hangs",
  E: "cluster-unreachable",
  X: "lost",
};

/** What befalls a run while everything goes wrong. */
const MISFORTUNES: readonly HelmFault["kind"][] = ["hangs", "never", "dies", "lost", "twice", ...FAILURES];

export function createAddons(input: AddonsInput): Addons {
  const { clock, timers, objects, plan, secrets, trace, count, report } = input;
  const random = input.stream(21);
  const deletedByHand = new Set<string>();
  let isFailing = false;
  const helm: SimulatedHelm = createSimulatedHelm(clock, {
    faultOf: ({ name }) => {
      count("H2").sent += 1;
      const planned = plan.next("H2");
      const kind =
        planned === undefined ? (isFailing && random.fraction() < 0.3 ? pick(MISFORTUNES, random) : undefined) : befalls[planned];
      if (kind !== undefined) trace.add(`the run ${name} meets: ${kind}`);
      return kind === undefined ? undefined : { kind };
    },
    // A worker whose pod is deleted is anywhere in its work.
    whenEnded: () => pick(["never", "dies", "lost"], random),
    onWork: (request, before) => {
      count("H2").tookEffect += 1;
      trace.add(`effect H2 ${request.task.kind} ${request.task.release.name} by ${request.name}`);
      rules.works(request, before);
    },
  });

  const rules = createAddonRules({ objects, report, now: () => clock.now(), helm: () => helm, isPaused: input.isPaused, deletedByHand });
  const removed = new Set<string>();
  /** Runs that are going to begin late. */
  let late = 0;
  const onLate = (change: 1 | -1): void => {
    late += change;
  };
  /** Jobs that came to be after their runs were removed. They have no Secret, so that nothing begins in them. */
  const strays = new Map<string, AddonRunRequest>();
  objects.onChange(() => rules.changed());

  const start = (request: AddonRunRequest, isLate: boolean): void => {
    if (isLate && removed.has(request.name)) return void strays.set(request.name, request);
    strays.delete(request.name);
    const isNew = !helm.begun.some(({ name }) => name === request.name);
    // What it is told may be read by whoever may read Jobs.
    secrets.inspectText("the task of a worker", JSON.stringify(request.task));
    if (isNew) trace.add(`run ${request.name} begins: ${request.task.kind} ${request.task.release.name}`);
    rules.starts(request, isLate);
    void helm.runner.start(request);
    timers.schedule(TAKES_MS, () => void helm.settle());
  };

  return {
    helm,
    runnerFor(life) {
      const own = { life, plan, random: input.stream(22), timers, onLate };
      const asked = async <T>(act: () => Promise<T>): Promise<T> => {
        await life.awake();
        return life.maySend() ? settled(life, act()) : never();
      };
      return {
        async start(request) {
          await life.awake();
          if (!life.maySend()) return never();
          count("H1").sent += 1;
          trace.add(`send H1 ${request.name}`);
          const sentAt = clock.now();
          return withFault("H1", own, {
            perform: async () => {
              count("H1").tookEffect += 1;
              start(request, clock.now() > sentAt);
            },
            fail: () => Object.assign(new Error("connection reset"), { name: "KubeTransportFailure" }),
            latestMs: LATEST_MS,
          });
        },
        look: (name) => asked(() => helm.runner.look(name)),
        remove: (name) =>
          asked(() => {
            removed.add(name);
            strays.delete(name);
            return helm.runner.remove(name);
          }),
        list: () =>
          asked(async () => [
            ...(await helm.runner.list()),
            ...[...strays.values()].map(({ name, owner }) => ({ name, owner, hasEnded: false })),
          ]),
      };
    },
    fail(failing) {
      isFailing = failing;
      if (!failing) helm.release();
      timers.schedule(TAKES_MS, () => void helm.settle());
    },
    deployed(release) {
      const one = helm.history(ENDPOINT, release).find(({ status }) => status === "deployed");
      return one === undefined ? undefined : { inputs: one.inputs, values: one.values };
    },
    isIdle: () => helm.going().length === 0 && strays.size === 0 && late === 0,
    waitsFor: () => [
      ...(["talosclusteraddons", "talosclusteraddonreleases"] as const).flatMap((plural) =>
        objects.all(plural).map(({ metadata }) => `${metadata?.name ?? ""}: ${objects.waitsFor(plural, metadata?.name ?? "")}`),
      ),
      ...[...helm.going(), ...strays.values()].map(({ name }) => `run ${name}`),
    ],
    deletesByHand: (release) => void deletedByHand.add(release),
  };
}
