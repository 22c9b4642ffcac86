import { create } from "@bufbuild/protobuf";
import { EmptySchema, timestampMs } from "@bufbuild/protobuf/wkt";

import {
  MachineService,
  ServiceRestartRequestSchema,
  ServiceStartRequestSchema,
  ServiceStopRequestSchema,
} from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { EFFECT_TIMEOUT_MS, READ_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";

/** A service of the machine: `apid`, `machined`, `containerd`, `cri`, `kubelet`, `etcd`, `trustd`, ... */
export interface ServiceFacts {
  readonly id: string;
  /** `Initialized`, `Preparing`, `Waiting`, `Starting`, `Running`, `Stopping`, `Finished`, `Failed`, `Skipped`, or what a newer Talos adds. */
  readonly state: string;
  /** `undefined` when the service has no health check or has not been checked yet. */
  readonly isHealthy: boolean | undefined;
  readonly healthMessage: string;
  /** Up to the last 64, oldest first. */
  readonly events: readonly ServiceEventFacts[];
}

/** Something that happened to a service. */
export interface ServiceEventFacts {
  readonly state: string;
  readonly message: string;
  /** Milliseconds since the epoch, by the machine's clock; `undefined` when not given. */
  readonly at: number | undefined;
}

export interface ServiceCalls {
  /** All services, also those that do not run. Works in maintenance mode from Talos 1.13. Default deadline 10 s. */
  serviceList(options?: CallOptions): Promise<readonly ServiceFacts[]>;
  /**
   * Starts, stops or restarts a service: extensions (`ext-<name>`), and the kubelet only `restart`. Default deadline 30 s. Needs `os:operator`.
   *
   * @returns the machine's words
   * @throws TalosError `NODE_FAILED` for a service that the API may not touch so
   */
  serviceControl(id: string, action: "start" | "stop" | "restart", options?: CallOptions): Promise<string>;
}

const SERVICE_LIST = methodOf(MachineService.method.serviceList);
const SERVICE_START = methodOf(MachineService.method.serviceStart);
const SERVICE_STOP = methodOf(MachineService.method.serviceStop);
const SERVICE_RESTART = methodOf(MachineService.method.serviceRestart);

export function serviceCalls(caller: Caller): ServiceCalls {
  return {
    async serviceList(options) {
      const part = await caller.one(SERVICE_LIST, create(EmptySchema), READ_TIMEOUT_MS, options);
      return part.services.map((service) => ({
        id: service.id,
        state: service.state,
        isHealthy: service.health === undefined || service.health.unknown ? undefined : service.health.healthy,
        healthMessage: service.health?.lastMessage ?? "",
        events: (service.events?.events ?? []).map((event) => ({
          state: event.state,
          message: event.msg,
          at: event.ts === undefined ? undefined : timestampMs(event.ts),
        })),
      }));
    },
    async serviceControl(id, action, options) {
      switch (action) {
        case "start":
          return (await caller.one(SERVICE_START, create(ServiceStartRequestSchema, { id }), EFFECT_TIMEOUT_MS, options)).resp;
        case "stop":
          return (await caller.one(SERVICE_STOP, create(ServiceStopRequestSchema, { id }), EFFECT_TIMEOUT_MS, options)).resp;
        case "restart":
          return (await caller.one(SERVICE_RESTART, create(ServiceRestartRequestSchema, { id }), EFFECT_TIMEOUT_MS, options)).resp;
      }
    },
  };
}
