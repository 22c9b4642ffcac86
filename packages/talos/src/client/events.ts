import { create, fromBinary } from "@bufbuild/protobuf";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";

import {
  AddressEventSchema,
  ConfigLoadErrorEventSchema,
  ConfigValidationErrorEventSchema,
  EventsRequestSchema,
  MachineService,
  MachineStatusEvent_MachineStage as Stage,
  MachineStatusEventSchema,
  PhaseEventSchema,
  RestartEventSchema,
  SequenceEvent_Action as SequenceAction,
  SequenceEventSchema,
  ServiceStateEvent_Action as ServiceAction,
  ServiceStateEventSchema,
  TaskEventSchema,
} from "../gen/machine/machine_pb.ts";
import type { Event } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { refusePartError, STREAM_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";

/** What happens on a machine, as it happens. Types that this package does not know arrive as `other`. */
export type MachineEvent = { readonly id: string; readonly actorId: string } & (
  | { readonly kind: "hello" }
  | { readonly kind: "sequence"; readonly sequence: string; readonly action: "noop" | "start" | "stop"; readonly error: string | undefined }
  | { readonly kind: "phase"; readonly phase: string; readonly action: "start" | "stop" }
  | { readonly kind: "task"; readonly task: string; readonly action: "start" | "stop" }
  | { readonly kind: "service"; readonly service: string; readonly action: string; readonly message: string }
  | {
      readonly kind: "machine-status";
      readonly stage: string;
      readonly isReady: boolean;
      readonly unmetConditions: readonly { readonly name: string; readonly reason: string }[];
    }
  | { readonly kind: "address"; readonly hostname: string; readonly addresses: readonly string[] }
  | { readonly kind: "restart"; readonly command: bigint }
  | { readonly kind: "config-load-error"; readonly error: string }
  | { readonly kind: "config-validation-error"; readonly error: string }
  | { readonly kind: "other"; readonly type: string }
);

/** How much of the past to send first; at most one of the three. None sends only what comes. */
export interface EventsInput {
  /** Last n events, -1 for all that the machine keeps (about 1000). */
  readonly tailEvents?: number;
  /** Events after this id. */
  readonly tailId?: string;
  readonly tailSeconds?: number;
  /** Only events of one accepted sequence. */
  readonly actorId?: string;
}

export interface EventCalls {
  /**
   * Events until the deadline (default 600 s) or the signal. The first is always `hello`: from there on nothing is missed.
   *
   * The machine ends the stream of a reader that is too slow, and forgets all events when it reboots.
   */
  events(input?: EventsInput, options?: CallOptions): AsyncIterable<MachineEvent>;
}

const EVENTS = methodOf(MachineService.method.events);
const TYPE_PREFIX = "talos/runtime/";

export function eventCalls(caller: Caller): EventCalls {
  return {
    async *events(input, options) {
      const request = create(EventsRequestSchema, {
        tailEvents: input?.tailEvents ?? 0,
        tailId: input?.tailId ?? "",
        tailSeconds: input?.tailSeconds ?? 0,
        withActorId: input?.actorId ?? "",
      });
      const facts = { node: options?.node ?? caller.channel.target.address, method: EVENTS.path };
      for await (const event of caller.stream(EVENTS, request, STREAM_TIMEOUT_MS, options)) {
        refusePartError(event, facts);
        yield { id: event.id, actorId: event.actorId, ...contentOf(event) };
      }
    },
  };
}

type Content = MachineEvent extends infer E ? (E extends MachineEvent ? Omit<E, "id" | "actorId"> : never) : never;

interface Decoder {
  readonly schema: DescMessage;
  readonly read: (bytes: Uint8Array) => Content;
}

function decoder<D extends DescMessage>(schema: D, read: (message: MessageShape<D>) => Content): Decoder {
  return { schema, read: (bytes) => read(fromBinary(schema, bytes)) };
}

const START_STOP = ["start", "stop"] as const;
const SEQUENCE_ACTIONS: Readonly<Record<SequenceAction, "noop" | "start" | "stop">> = {
  [SequenceAction.NOOP]: "noop",
  [SequenceAction.START]: "start",
  [SequenceAction.STOP]: "stop",
};

const DECODERS = new Map<string, Decoder>(
  [
    decoder(SequenceEventSchema, (event) => ({
      kind: "sequence",
      sequence: event.sequence,
      action: SEQUENCE_ACTIONS[event.action] ?? "noop",
      error: event.error?.message,
    })),
    decoder(PhaseEventSchema, (event) => ({ kind: "phase", phase: event.phase, action: START_STOP[event.action] ?? "stop" })),
    decoder(TaskEventSchema, (event) => ({ kind: "task", task: event.task, action: START_STOP[event.action] ?? "stop" })),
    decoder(ServiceStateEventSchema, (event) => ({
      kind: "service",
      service: event.service,
      action: enumName(ServiceAction, event.action),
      message: event.message,
    })),
    decoder(MachineStatusEventSchema, (event) => ({
      kind: "machine-status",
      stage: enumName(Stage, event.stage),
      isReady: event.status?.ready ?? false,
      unmetConditions: (event.status?.unmetConditions ?? []).map(({ name, reason }) => ({ name, reason })),
    })),
    decoder(AddressEventSchema, (event) => ({ kind: "address", hostname: event.hostname, addresses: event.addresses })),
    decoder(RestartEventSchema, (event) => ({ kind: "restart", command: event.cmd })),
    decoder(ConfigLoadErrorEventSchema, (event) => ({ kind: "config-load-error", error: event.error })),
    decoder(ConfigValidationErrorEventSchema, (event) => ({ kind: "config-validation-error", error: event.error })),
  ].map((entry) => [`${TYPE_PREFIX}${entry.schema.typeName}`, entry]),
);

function contentOf(event: Event): Content {
  const type = event.data?.typeUrl ?? "";
  if (type === "") return { kind: "hello" };
  const known = DECODERS.get(type);
  return known === undefined || event.data === undefined ? { kind: "other", type } : known.read(event.data.value);
}

/** `SHUTTING_DOWN` as Talos prints it in resources: `shutting down`. A value of a newer Talos becomes `unknown`. */
function enumName(values: Readonly<Record<string, number>>, value: number): string {
  const name = Object.keys(values).find((key) => values[key] === value);
  return name === undefined ? "unknown" : name.toLowerCase().replaceAll("_", " ");
}
