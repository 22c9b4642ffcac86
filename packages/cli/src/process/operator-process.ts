import type { Clock, KubeTransport, Keys, Logger, RandomSource, TalosDialer, Timers } from "@talos-operator/ports";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { createOperator, type OperatorOptions } from "@talos-operator/operator";
import { createGrpcDialer } from "@talos-operator/talos/grpc";

export interface OperatorProcessOptions {
  readonly kube: KubeTransport;
  readonly keys: Keys;
  readonly log: Logger;
  readonly options: OperatorOptions;
}

/** The operator on the process's own clock, timers and sockets. */
export interface OperatorProcess {
  /** Rejects when the operator cannot go on. Resolves after `stop`. */
  readonly done: Promise<void>;
  /** Finishes what is under way and gives the lease back. */
  stop(): Promise<void>;
}

export function startOperator({ kube, keys, log, options }: OperatorProcessOptions): OperatorProcess {
  const ports: { clock: Clock; timers: Timers; random: RandomSource; talos: TalosDialer } = {
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    talos: createGrpcDialer(),
  };
  const stopping = new AbortController();
  const done = createOperator({ kube, keys, log, options, ...ports }).run(stopping.signal);
  return {
    done,
    async stop() {
      stopping.abort();
      await done;
    },
  };
}
