import type {
  EndpointProbe,
  KubeCallOptions,
  KubeRequest,
  KubeResponse,
  KubeTransport,
  KubeWatchEvent,
  RandomSource,
  TalosCallFailure,
  TalosCallOptions,
  TalosChannel,
  TalosDialer,
  TalosMethod,
  Timers,
  WorkloadDialer,
} from "@talos-operator/ports";
import { kubeEffect, streamEffect, talosEffect, workloadEffect, type EffectId } from "./effects.ts";
import type { FaultPlan } from "./fault.ts";
import type { Interference, KubeLie } from "./interference.ts";
import { never, type Life } from "./life.ts";
import { cutBy } from "../world/dies-with-its-call.ts";

export interface FaultyPortOptions {
  readonly life: Life;
  readonly plan: FaultPlan;
  readonly random: RandomSource;
  readonly timers: Timers;
  /** Before an effect is sent, whatever becomes of it. `address` is that of the machine, for Talos calls. */
  readonly onSent: (effect: EffectId, detail: string, address: string | undefined, request: unknown) => Promise<void>;
  /** After an effect took place; a refused call changed nothing. */
  readonly onEffect: (effect: EffectId, detail: string, address: string | undefined, request: unknown) => Promise<void>;
  /** 1 when an effect is going to take place late, -1 when it did. */
  readonly onLate: (change: 1 | -1) => void;
  /** After a machine answered a read. */
  readonly onRead: (path: string) => void;
  /** After the API of a managed cluster was asked for something; an error of the server is no answer. */
  readonly onAsked: (isAnswered: boolean) => void;
  /** Who holds the lease, each time that this instance reads it. */
  readonly onLeaseRead: (holder: string | undefined) => void;
  /** What a read is answered instead of the truth, or `undefined`. */
  readonly lie: (path: string) => KubeResponse | undefined;
  readonly interference: Interference;
  /** An effect was answered with a lie: E where it did not take place, X where it did. */
  readonly onLie: (effect: EffectId, fault: "E" | "X") => void;
  /** Resolves when the watches may go on telling. */
  readonly watchesGoOn: () => Promise<void>;
  /** Everything that is written to the Kubernetes API. */
  readonly inspect: (request: KubeRequest) => void;
}

/** Longest time after which a late effect on a machine still happens. */
const LATEST_MS = 10 * 60_000;

/** The same at the Kubernetes API, which gives up every request after this: the default of kube-apiserver's `--request-timeout`. */
const LATEST_WRITE_MS = 60_000;

/** The Kubernetes API as an unlucky operator sees it. */
export function faultyKube(inner: KubeTransport, options: FaultyPortOptions): KubeTransport {
  return faultyApi(inner, options, kubeEffect);
}

/** Managed clusters: their APIs, and what answers at their endpoints. */
export interface ManagedClusters {
  readonly workloads: WorkloadDialer;
  readonly endpoints: EndpointProbe;
}

/** Managed clusters as an unlucky operator sees them; what asks their endpoints only dies or stands still with it. */
export function faultyClusters(inner: ManagedClusters, options: FaultyPortOptions): ManagedClusters {
  const { life } = options;
  return {
    workloads: faultyWorkloads(inner.workloads, options),
    endpoints: {
      async ask(target, askOptions) {
        await life.awake();
        return life.isAlive ? settled(life, inner.endpoints.ask(target, askOptions)) : never();
      },
    },
  };
}

function faultyWorkloads(inner: WorkloadDialer, options: FaultyPortOptions): WorkloadDialer {
  return {
    dial(target) {
      const api = faultyApi(inner.dial(target), options, workloadEffect);
      return {
        ...api,
        async send(request, callOptions) {
          try {
            const answer = await api.send(request, callOptions);
            options.onAsked(answer.status < 500);
            return answer;
          } catch (error) {
            options.onAsked(false);
            throw error;
          }
        },
      };
    },
  };
}

function faultyApi(
  inner: KubeTransport,
  options: FaultyPortOptions,
  effectOf: (request: KubeRequest) => EffectId | undefined,
): KubeTransport {
  const { life } = options;
  const read = (request: KubeRequest, callOptions: KubeCallOptions | undefined): Promise<KubeResponse> => {
    const lie = options.interference.kube?.(request);
    return settled(life, lie === undefined ? inner.send(request, callOptions) : lying(lie, () => inner.send(request, callOptions)));
  };
  return {
    async send(request, callOptions) {
      await life.awake();
      if (!life.maySend()) return never();
      const effect = effectOf(request);
      if (effect === undefined) {
        const lie = options.lie(request.path);
        const reply = lie === undefined ? await read(request, callOptions) : await life.deliver(lie);
        // An answer that is no lease tells nothing of who holds it, but for the one that there is none.
        if (/\/leases\/[^/]+$/.test(request.path) && (reply.status < 400 || reply.status === 404))
          options.onLeaseRead((reply.body as { spec?: { holderIdentity?: string } }).spec?.holderIdentity);
        return reply;
      }
      const detail = `${request.method} ${request.path}`;
      options.inspect(request);
      await options.onSent(effect, detail, undefined, request);
      // A process can stand still between its last check and the send.
      await life.awake();
      if (!life.isAlive) return never();
      const perform = async (): Promise<KubeResponse> => {
        const reply = await inner.send(request, withoutSignal(callOptions));
        if (reply.status < 300) await options.onEffect(effect, detail, undefined, request);
        return reply;
      };
      const lie = options.interference.kube?.(request);
      if (lie !== undefined) {
        options.onLie(effect, lie.isDone ? "X" : "E");
        return settled(life, lying(lie, perform));
      }
      return withFault(effect, options, {
        perform,
        fail: () => kubeFailure("connection reset"),
        latestMs: LATEST_WRITE_MS,
      });
    },
    async watch(request, callOptions) {
      await life.awake();
      if (!life.maySend()) return never();
      const lie = options.interference.kube?.(request);
      if (lie?.answer instanceof Error) return settled(life, Promise.reject(lie.answer));
      // What is changed in an answer is changed in the events of a watch by the other hook.
      if (typeof lie?.answer === "object") return life.deliver({ ...lie.answer, events: nothing() });
      const answer = await inner.watch(request, callOptions);
      const events = options.interference.watch?.(request, answer.events) ?? answer.events;
      return life.deliver({ ...answer, events: whileAlive(lagging(events, options.watchesGoOn), life) });
    },
    close: () => inner.close(),
  };
}

/** What stands in place of a call's path where a machine is only to be reached. */
const REACHING = "reaches";

/** Longer than a machine takes to carry out a call, a little. */
const MIDDLE_MS = 500;

/** The machines as an unlucky operator sees them. */
export function faultyTalos(inner: TalosDialer, options: FaultyPortOptions): TalosDialer {
  const { life } = options;
  const reaching = async <T>(gone: T, reach: () => Promise<T>): Promise<T> => {
    await life.awake();
    if (!life.maySend()) return never();
    // A packet that is lost looks like a machine that is gone.
    return settled(life, options.interference.talos?.(REACHING) === undefined ? reach() : Promise.resolve(gone));
  };
  return {
    dial(target, credentials) {
      const channel = inner.dial(target, credentials);
      const send = async <O>(
        path: string,
        request: unknown,
        callOptions: TalosCallOptions,
        perform: (callOptions: TalosCallOptions) => Promise<O>,
      ): Promise<O> => {
        await life.awake();
        if (!life.maySend()) return never();
        const effect = talosEffect(path, credentials.kind === "maintenance");
        const lie = options.interference.talos?.(path);
        if (effect === undefined) {
          // Whether a question was heard makes no difference.
          if (lie !== undefined) return settled(life, Promise.reject(lie.answer));
          const answer = await settled(life, perform(callOptions));
          options.onRead(path);
          return answer;
        }
        const detail = `${path} ${target.address}`;
        await options.onSent(effect, detail, target.address, request);
        await life.awake();
        if (!life.isAlive) return never();
        const act = async (cut?: AbortSignal): Promise<O> => {
          const reply = await perform(cut === undefined ? withoutSignal(callOptions) : cutBy(callOptions, cut));
          await options.onEffect(effect, detail, target.address, request);
          return reply;
        };
        if (lie !== undefined) {
          options.onLie(effect, lie.isDone ? "X" : "E");
          if (lie.isDone) await settledQuietly(act());
          return settled(life, Promise.reject(lie.answer));
        }
        return withFault(effect, options, {
          perform: act,
          fail: () => talosFailure(14, "connection reset by peer"),
          latestMs: LATEST_MS,
          // Whoever goes back is where it came from after the second.
          arrivesOnce: path.endsWith("/Rollback"),
        });
      };
      const wrapped: TalosChannel = {
        target,
        unary: <I, O>(method: TalosMethod<I, O>, request: I, callOptions: TalosCallOptions): Promise<O> =>
          send(method.path, request, callOptions, (given) => channel.unary(method, request, given)),
        // What was read from the source is gone: a fault that sends twice sends nothing the second time.
        upload: <I, O>(method: TalosMethod<I, O>, requests: AsyncIterable<I>, callOptions: TalosCallOptions): Promise<O> =>
          send(method.path, undefined, callOptions, (given) => channel.upload(method, requests, given)),
        serverStream<I, O>(method: TalosMethod<I, O>, request: I, callOptions: TalosCallOptions): AsyncIterable<O> {
          const lie = options.interference.talos?.(method.path);
          if (lie !== undefined) return whileAlive(broken(lie.answer), life);
          const effect = streamEffect(method.path);
          // A snapshot is judged by who asks for it, all else by what is asked.
          const told = effect === "T12" ? credentials : request;
          const open = (): AsyncIterable<O> => channel.serverStream(method, request, callOptions);
          if (effect === undefined) return whileAlive(open(), life);
          return whileAlive(
            streamWithFault(effect, options, {
              open,
              begin: () => options.onSent(effect, `${method.path} ${target.address}`, target.address, told),
              end: () => options.onEffect(effect, `${method.path} ${target.address}`, target.address, told),
            }),
            life,
          );
        },
        peerSpki: () => channel.peerSpki(),
        close: () => channel.close(),
      };
      return wrapped;
    },
    reaches: (target, timeoutMs) => reaching(false, () => inner.reaches(target, timeoutMs)),
    hold: (target, holdOptions) => reaching("unreached", () => inner.hold(target, holdOptions)),
  };
}

async function lying({ isDone, answer }: KubeLie, perform: () => Promise<KubeResponse>): Promise<KubeResponse> {
  if (typeof answer === "function") return answer(await perform());
  if (isDone) await settledQuietly(perform());
  if (answer instanceof Error) throw answer;
  return answer;
}

async function* nothing(): AsyncGenerator<never> {
  // A watch that is refused tells nothing.
}

// oxlint-disable-next-line require-yield -- it breaks before the first message
async function* broken(failure: Error): AsyncGenerator<never> {
  throw failure;
}

interface Attempt<T> {
  /** @param cut ends the call in the middle, where it has one */
  readonly perform: (cut?: AbortSignal) => Promise<T>;
  readonly fail: () => Error;
  readonly latestMs: number;
  /** No network sends a call twice, and of this one the second takes back what the first did. */
  readonly arrivesOnce?: boolean;
}

export async function withFault<T>(
  effect: EffectId,
  options: Pick<FaultyPortOptions, "life" | "plan" | "random" | "timers" | "onLate">,
  attempt: Attempt<T>,
): Promise<T> {
  const { life, plan, random, timers, onLate } = options;
  const fault = plan.next(effect);
  switch (fault) {
    case "C0":
    case "C2":
      // Nobody can tell a request that was never sent from one that was lost on the way, but both are planned and counted.
      life.crash();
      return never();
    case "C1":
      // The reply may be a refusal; either way nobody hears it.
      await settledQuietly(attempt.perform());
      life.crash();
      return never();
    case "C3": {
      const reply = await settled(life, attempt.perform());
      life.crashAtNextSend();
      return reply;
    }
    case "M":
    case "B": {
      const cut = new AbortController();
      const answer = attempt.perform(cut.signal);
      timers.schedule(Math.floor(random.fraction() * MIDDLE_MS), () => cut.abort());
      if (fault === "B") return settled(life, answer);
      // One that is over by then is a crash after the effect.
      await settledQuietly(answer);
      life.crash();
      return never();
    }
    case "D": {
      const first = await settled(life, attempt.perform());
      if (attempt.arrivesOnce !== true) await settledQuietly(attempt.perform());
      return life.deliver(first);
    }
    case "R": {
      const reply = attempt.perform();
      // A refusal is handed on late like any answer.
      await settledQuietly(reply);
      await timers.sleep(1 + Math.floor(random.fraction() * 3000));
      return settled(life, reply);
    }
    case "L": {
      onLate(1);
      timers.schedule(
        1000 + Math.floor(random.fraction() * attempt.latestMs),
        () => void settledQuietly(attempt.perform()).then(() => onLate(-1)),
      );
      await timers.sleep(1000);
      return settled(life, Promise.reject(attempt.fail()));
    }
    case "E":
      return settled(life, Promise.reject(attempt.fail()));
    case "X":
      await settledQuietly(attempt.perform());
      return settled(life, Promise.reject(attempt.fail()));
    case undefined:
      return settled(life, attempt.perform());
  }
}

async function readThrough(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _message of stream);
}

interface StreamAttempt<O> {
  readonly open: () => AsyncIterable<O>;
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
}

/** Messages that come before a stream breaks in the middle. */
const MOST_BEFORE_BREAK = 40;

/** A stream that is read, and what befalls it. It takes place when its last message has come, or when its reader leaves it. */
async function* streamWithFault<O>(effect: EffectId, options: FaultyPortOptions, attempt: StreamAttempt<O>): AsyncIterable<O> {
  const { life, plan, random, timers } = options;
  await attempt.begin();
  const fault = plan.next(effect);
  if (fault === "C0" || fault === "C2") {
    life.crash();
    return await never();
  }
  if (fault === "E" || fault === "L" || fault === "X") {
    await timers.sleep(1_000);
    await attempt.end();
    throw talosFailure(14, "connection reset by peer");
  }
  if (fault === "R") await timers.sleep(1 + Math.floor(random.fraction() * 3_000));
  // One that is asked for twice is read twice; the first answer is lost. Of two installations a machine refuses the second while the first one runs.
  if (fault === "D" && effect !== "T10") await readThrough(attempt.open());
  let hasSecond = fault !== "D" || effect !== "T10";
  let left = fault === "M" || fault === "B" ? Math.floor(random.fraction() * MOST_BEFORE_BREAK) : Number.POSITIVE_INFINITY;
  try {
    for await (const message of attempt.open()) {
      if (!hasSecond) void settledQuietly(readThrough(attempt.open()));
      hasSecond = true;
      left -= 1;
      if (left < 0 && fault === "B") throw talosFailure(14, "connection reset by peer");
      if (left < 0) {
        life.crash();
        return await never();
      }
      yield message;
    }
  } finally {
    await attempt.end();
  }
  if (fault === "C1") {
    life.crash();
    return await never();
  }
  if (fault === "C3") life.crashAtNextSend();
}

/** A dead instance hears neither answers nor failures. */
export async function settled<T>(life: Life, answer: Promise<T>): Promise<T> {
  try {
    const value = await answer;
    return await life.deliver(value);
  } catch (error) {
    await life.awake();
    if (!life.isAlive) return never();
    throw error;
  }
}

export async function settledQuietly(answer: Promise<unknown>): Promise<void> {
  await answer.then(
    () => undefined,
    // Whoever asked is not listening: that is the fault being played.
    () => undefined,
  );
}

export async function* whileAlive<T>(items: AsyncIterable<T>, life: Life): AsyncIterable<T> {
  if (!life.maySend()) await never();
  for await (const item of items) {
    await life.awake();
    if (!life.isAlive) await never();
    yield item;
  }
  if (!life.isAlive) await never();
}

async function* lagging(events: AsyncIterable<KubeWatchEvent>, goOn: () => Promise<void>): AsyncIterable<KubeWatchEvent> {
  for await (const event of events) {
    await goOn();
    yield event;
  }
}

/** What was sent takes effect even when the caller stops waiting for it. */
function withoutSignal<O extends { readonly signal?: AbortSignal }>(options: O): O;
function withoutSignal<O extends { readonly signal?: AbortSignal }>(options: O | undefined): O | undefined;
function withoutSignal<O extends { readonly signal?: AbortSignal }>(options: O | undefined): O | undefined {
  if (options === undefined) return undefined;
  const { signal: _signal, ...rest } = options;
  return rest as O;
}

/** Timers of one instance: those of a dead one never fire. */
export function mortalTimers(inner: Timers, life: Life): Timers {
  return {
    sleep: async (delayMs, signal) => {
      await inner.sleep(delayMs, signal);
      await life.awake();
      if (!life.isAlive) await never();
    },
    schedule: (delayMs, callback) =>
      inner.schedule(delayMs, () => {
        void callWhenAwake(life, callback);
      }),
  };
}

async function callWhenAwake(life: Life, callback: () => void): Promise<void> {
  await life.awake();
  if (life.isAlive) callback();
}

function kubeFailure(message: string): Error {
  const error = new Error(message);
  error.name = "KubeTransportFailure";
  return error;
}

function talosFailure(code: number, message: string): TalosCallFailure {
  return Object.assign(new Error(message), { name: "TalosCallFailure" as const, code });
}
