/** Machines that forward for each other, and a clock that stands still until it is moved. For tests. */
import { create } from "@bufbuild/protobuf";
import type { Clock, TalosCallFailure, TalosCallOptions, TalosChannel, TalosDialer, TalosMethod, Timers } from "@talos-operator/ports";

import { machine } from "../../protocol.ts";

/** `up` answers, `refused` and `untrusted` fail at once, `silent` never answers. */
export type Health = "up" | "refused" | "untrusted" | "silent";

export interface TestNetwork {
  readonly dialer: TalosDialer;
  readonly clock: Clock;
  readonly timers: Timers;
  /** `endpoint>node path` of every call that was sent, probes included. */
  readonly calls: string[];
  /** Addresses of the channels that were opened, in order. */
  readonly dialled: string[];
  /** Channels that are open now. */
  open(): number;
  set(address: string, health: Health): void;
  /** Lets every answer of `node` wait until the returned function is called. */
  hold(node: string): () => void;
  advance(ms: number): Promise<void>;
  pendingTimers(): number;
}

export function createTestNetwork(machines: readonly string[]): TestNetwork {
  const health = new Map<string, Health>(machines.map((address) => [address, "up"]));
  const held = new Map<string, Promise<void>>();
  const calls: string[] = [];
  const dialled: string[] = [];
  let open = 0;
  let now = Date.UTC(2026, 0, 1);
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  const schedule: Timers["schedule"] = (delayMs, callback) => {
    const timer = { at: now + delayMs, callback };
    timers.push(timer);
    return { cancel: () => void (timers = timers.filter((other) => other !== timer)) };
  };

  const answer = async (endpoint: string, path: string, options: TalosCallOptions): Promise<unknown> => {
    const node = options.node ?? endpoint;
    calls.push(`${endpoint}>${node} ${path.slice(path.lastIndexOf("/") + 1)}`);
    await outcome(health.get(endpoint) ?? "refused", endpoint, options, false);
    if (node !== endpoint) await outcome(health.get(node) ?? "refused", node, options, true);
    await held.get(node);
    return create(machine.VersionResponseSchema, { messages: [{ version: { tag: `v1.13.9+${node}` }, hostname: node } as object] });
  };
  const outcome = (state: Health, place: string, options: TalosCallOptions, isForwarded: boolean): Promise<void> => {
    if (state === "up") return Promise.resolve();
    if (state === "silent") return untilOver(options, schedule);
    const tls = state === "untrusted" && !isForwarded ? { tls: "untrusted-server" as const } : {};
    return Promise.reject(failure(14, `${state} by ${place}`, tls));
  };

  return {
    clock: { now: () => now },
    timers: { schedule, sleep: (delayMs) => new Promise((resolve) => void schedule(delayMs, resolve)) },
    calls,
    dialled,
    open: () => open,
    set: (address, state) => void health.set(address, state),
    hold(node) {
      let release: () => void = () => undefined;
      held.set(
        node,
        new Promise((resolve) => {
          release = resolve;
        }),
      );
      return () => release();
    },
    pendingTimers: () => timers.length,
    async advance(ms) {
      const until = now + ms;
      for (;;) {
        await settle();
        const next = timers.filter((timer) => timer.at <= until).toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        now = Math.max(now, next.at);
        next.callback();
      }
      now = until;
      await settle();
    },
    dialer: {
      dial(target): TalosChannel {
        const { address } = target;
        dialled.push(address);
        open += 1;
        let isOpen = true;
        const send = <O>(method: { readonly path: string }, options: TalosCallOptions): Promise<O> =>
          isOpen ? (answer(address, method.path, options) as Promise<O>) : Promise.reject(failure(1, "the channel is closed"));
        return {
          target,
          unary: <I, O>(method: TalosMethod<I, O>, _request: I, options: TalosCallOptions) => send<O>(method, options),
          async *serverStream<I, O>(method: TalosMethod<I, O>, _request: I, options: TalosCallOptions) {
            const node = options.node ?? address;
            await send(method, options);
            for (let index = 0; ; index += 1) {
              yield { bytes: Buffer.from(`${node} ${index}\n`) } as O;
              if (index > 0) await outcome(health.get(address) ?? "refused", address, options, false);
              if (options.signal?.aborted === true) throw failure(1, "canceled");
            }
          },
          upload: () => Promise.reject(failure(12, "not here")),
          peerSpki: () => `spki of ${address}`,
          close: () => {
            if (isOpen) open -= 1;
            isOpen = false;
          },
        };
      },
      reaches: async ({ address }) => health.get(address) === "up" || health.get(address) === "untrusted",
      hold: () => Promise.reject(new Error("not asked for")),
    },
  };
}

function failure(code: number, message: string, facts: Partial<Pick<TalosCallFailure, "tls" | "peer">> = {}): TalosCallFailure {
  return Object.assign(new Error(message), { name: "TalosCallFailure" as const, code, ...facts });
}

function untilOver(options: TalosCallOptions, schedule: Timers["schedule"]): Promise<void> {
  return new Promise((_, reject) => {
    const timer = schedule(options.timeoutMs, () => reject(failure(4, "no answer in time")));
    options.signal?.addEventListener("abort", () => {
      timer.cancel();
      reject(failure(1, "canceled"));
    });
  });
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
}
