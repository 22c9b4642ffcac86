import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { machine } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import type { Machine } from "../node/machine.ts";
import { restartable } from "../node/stages.ts";
import type { HandlerContext } from "./context.ts";

/** Go's zero time, as a health that never changed carries it. */
const never = create(machine.ServiceHealthSchema, {}).lastChange;

/** Answers to ServiceList, by the services that they tell of: a machine is asked far more often than it changes. */
const answers = new WeakMap<Machine["services"], machine.ServiceListResponse>();

/** MachineService/ServiceList. */
export function serviceList({ cell }: HandlerContext): machine.ServiceListResponse {
  const { services } = cell.state;
  const known = answers.get(services);
  if (known !== undefined) return known;
  const answer = serviceListOf(services);
  answers.set(services, answer);
  return answer;
}

function serviceListOf(services: Machine["services"]): machine.ServiceListResponse {
  return create(machine.ServiceListResponseSchema, {
    messages: [
      {
        services: Object.entries(services)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([id, service]) => ({
            id,
            state: service.state,
            events: { events: service.events.map((event) => ({ msg: event.message, state: event.state, ts: timestampFromMs(event.at) })) },
            health: {
              unknown: service.isHealthy === undefined,
              healthy: service.isHealthy === true,
              lastMessage: service.healthMessage,
              lastChange:
                service.healthChanged === 0
                  ? (never ?? { $typeName: "google.protobuf.Timestamp", seconds: -62_135_596_800n, nanos: 0 })
                  : timestampFromMs(service.healthChanged),
            },
          })),
      },
    ],
  });
}

/** MachineService/ServiceRestart: only the kubelet. */
export function serviceRestart({ cell }: HandlerContext, { id }: machine.ServiceRestartRequest): machine.ServiceRestartResponse {
  requireOperation(cell.state.services, id, "restart");
  cell.dispatch({ kind: "restart-service", id });
  return create(machine.ServiceRestartResponseSchema, { messages: [{ resp: `Service "${id}" restarted` }] });
}

/** MachineService/ServiceStart: a service that is up already is started with no effect. */
export function serviceStart({ cell }: HandlerContext, { id }: machine.ServiceStartRequest): machine.ServiceStartResponse {
  requireDefined(cell.state.services, id);
  return create(machine.ServiceStartResponseSchema, { messages: [{ resp: `Service "${id}" started` }] });
}

/** MachineService/ServiceStop. */
export function serviceStop({ cell }: HandlerContext, { id }: machine.ServiceStopRequest): machine.ServiceStopResponse {
  requireOperation(cell.state.services, id, "stop");
  return create(machine.ServiceStopResponseSchema, { messages: [{ resp: `Service "${id}" stopped` }] });
}

function requireDefined(services: HandlerContext["cell"]["state"]["services"], id: string): void {
  if (services[id] === undefined) throw new RpcError(grpcStatus.unknown, `service "${id}" not defined`);
}

function requireOperation(services: HandlerContext["cell"]["state"]["services"], id: string, operation: "stop" | "restart"): void {
  requireDefined(services, id);
  if (restartable[id]?.includes(operation) !== true) {
    throw new RpcError(grpcStatus.unknown, `service "${id}" doesn't support ${operation} operation via API`);
  }
}
