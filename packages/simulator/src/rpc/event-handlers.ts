import { create, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import type { RuntimeEvent, Service, Stage } from "../node/machine.ts";
import type { HandlerContext } from "./context.ts";
import { MessageQueue } from "./queue.ts";

/**
 * MachineService/Events: an empty hello first, then the tail that was asked for, then what happens.
 * The buffer is lost at a reboot, and so is the stream.
 */
export async function* events(context: HandlerContext, request: machine.EventsRequest): AsyncIterable<machine.Event> {
  const { cell, signal } = context;
  const tails = [request.tailEvents !== 0, request.tailId !== "", request.tailSeconds !== 0].filter(Boolean).length;
  if (tails > 1) throw new RpcError(grpcStatus.unknown, "only one of tail_events, tail_id, tail_seconds can be specified");
  const wanted = (event: RuntimeEvent): boolean => request.withActorId === "" || event.actorId === request.withActorId;
  let last = cell.state.eventCount;
  const queue = new MessageQueue<RuntimeEvent>(signal);
  for (const event of tailOf(context, request)) queue.push(event);
  const end = cell.onChange(() => {
    for (const event of cell.state.events) if (event.number > last) queue.push(event);
    last = Math.max(last, cell.state.eventCount);
  });
  try {
    yield create(machine.EventSchema, { id: eventId(context, 0), data: { typeUrl: "", value: new Uint8Array() } });
    for await (const event of queue) if (wanted(event)) yield messageOf(context, event);
  } finally {
    end();
  }
}

function tailOf({ cell, world }: HandlerContext, request: machine.EventsRequest): readonly RuntimeEvent[] {
  const { events: kept } = cell.state;
  if (request.tailEvents < 0) return kept;
  if (request.tailEvents > 0) return kept.slice(-request.tailEvents);
  if (request.tailSeconds > 0) return kept.filter((event) => event.at >= world.clock.now() - request.tailSeconds * 1000);
  if (request.tailId !== "") return kept.filter((event) => eventId({ cell }, event.number, event.at) > request.tailId);
  return [];
}

/** Twenty sortable characters, as xids are: time first, then a number. */
function eventId({ cell }: Pick<HandlerContext, "cell">, number: number, at = cell.state.bootedAt): string {
  const time = Math.floor(at / 1000)
    .toString(32)
    .padStart(7, "0");
  return `${time}${number.toString(32).padStart(13, "0")}`;
}

function messageOf(context: HandlerContext, event: RuntimeEvent): machine.Event {
  const { name, value } = payloadOf(event);
  return create(machine.EventSchema, {
    id: eventId(context, event.number, event.at),
    actorId: event.actorId,
    data: { typeUrl: `talos/runtime/machine.${name}`, value },
  });
}

function payloadOf({ payload }: RuntimeEvent): { readonly name: string; readonly value: Uint8Array } {
  const encoded = <D extends DescMessage>(name: string, schema: D, message: MessageShape<D>): { name: string; value: Uint8Array } => ({
    name,
    value: toBinary(schema, message),
  });
  switch (payload.kind) {
    case "sequence":
      return encoded(
        "SequenceEvent",
        machine.SequenceEventSchema,
        create(machine.SequenceEventSchema, { sequence: payload.sequence, action: machine.SequenceEvent_Action[payload.action] }),
      );
    case "phase":
      return encoded(
        "PhaseEvent",
        machine.PhaseEventSchema,
        create(machine.PhaseEventSchema, { phase: payload.phase, action: machine.PhaseEvent_Action[payload.action] }),
      );
    case "service":
      return encoded(
        "ServiceStateEvent",
        machine.ServiceStateEventSchema,
        create(machine.ServiceStateEventSchema, {
          service: payload.service,
          action: serviceAction(payload.state),
          message: payload.message,
          health: { unknown: payload.isHealthy === undefined, healthy: payload.isHealthy === true },
        }),
      );
    case "machine-status":
      return encoded(
        "MachineStatusEvent",
        machine.MachineStatusEventSchema,
        create(machine.MachineStatusEventSchema, {
          stage: stageNumber(payload.stage),
          status: { ready: payload.isReady, unmetConditions: payload.unmet.map((condition) => ({ ...condition })) },
        }),
      );
    case "restart":
      return encoded("RestartEvent", machine.RestartEventSchema, create(machine.RestartEventSchema, { cmd: BigInt(payload.cmd) }));
  }
}

function serviceAction(state: Service["state"]): machine.ServiceStateEvent_Action {
  return machine.ServiceStateEvent_Action[state.toUpperCase() as keyof typeof machine.ServiceStateEvent_Action];
}

/** The stage's number in the protocol. */
function stageNumber(stage: Stage): machine.MachineStatusEvent_MachineStage {
  return machine.MachineStatusEvent_MachineStage[
    stage.toUpperCase().replaceAll(" ", "_") as keyof typeof machine.MachineStatusEvent_MachineStage
  ];
}
