import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";

import { READ_TIMEOUT_MS, STREAM_TIMEOUT_MS } from "../client/call.ts";
import type { Caller, CallOptions } from "../client/call.ts";
import { isTalosError, TalosError } from "../client/errors.ts";
import { EventType, GetRequestSchema, ListRequestSchema, State, WatchRequestSchema } from "../gen/cosi/resource/resource_pb.ts";
import type { Event, Resource as ProtoResource } from "../gen/cosi/resource/resource_pb.ts";
import { methodOf } from "../method-of.ts";
import { SpecFault } from "./resource.ts";
import type { Resource, ResourceEvent, ResourceKind } from "./resource.ts";

/**
 * Reads COSI resources of a machine. Machines refuse all writes.
 *
 * An unknown type or namespace is `PERMISSION_DENIED` with a text that says so, a sensitive one is too unless the certificate has `os:admin`.
 *
 * @see cosi-project/specification `proto/v1alpha1/state.proto`
 */
export interface ResourceCalls {
  /** The resource, or `undefined` when the machine answers that it does not exist. `id` is needed where the kind has none. Default deadline 10 s. */
  get<T>(kind: ResourceKind<T>, id?: string, options?: CallOptions): Promise<Resource<T> | undefined>;
  /** All resources of a kind, in the machine's order. Default deadline 10 s. */
  list<T>(kind: ResourceKind<T>, options?: CallOptions): Promise<readonly Resource<T>[]>;
  /**
   * What is there, then every change, until the deadline (default 600 s) or the signal; begin again then.
   *
   * With `id` one resource: the first event is its state, or `destroyed` when it is not there. Without: all of the kind, then `bootstrapped`, then changes.
   */
  watch<T>(kind: ResourceKind<T>, input?: { readonly id?: string }, options?: CallOptions): AsyncIterable<ResourceEvent<T>>;
}

const GET = methodOf(State.method.get);
const LIST = methodOf(State.method.list);
const WATCH = methodOf(State.method.watch);

export function resourceCalls(caller: Caller): ResourceCalls {
  const nodeOf = (options: CallOptions | undefined): string => options?.node ?? caller.channel.target.address;
  return {
    async get(kind, id, options) {
      const request = create(GetRequestSchema, { namespace: kind.namespace, type: kind.type, id: idOf(kind, id) });
      try {
        const reply = await caller.unary(GET, request, READ_TIMEOUT_MS, options);
        return toResource(kind, reply.resource, { node: nodeOf(options), method: GET.path });
      } catch (thrown) {
        if (isTalosError(thrown, "NOT_FOUND")) return undefined;
        throw thrown;
      }
    },
    async list(kind, options) {
      const request = create(ListRequestSchema, { namespace: kind.namespace, type: kind.type });
      const found = [];
      for await (const reply of caller.stream(LIST, request, READ_TIMEOUT_MS, options)) {
        found.push(toResource(kind, reply.resource, { node: nodeOf(options), method: LIST.path }));
      }
      return found;
    },
    async *watch(kind, input, options) {
      const one = input?.id ?? kind.id;
      const request = create(WatchRequestSchema, {
        namespace: kind.namespace,
        type: kind.type,
        ...(one === undefined ? { options: { bootstrapContents: true } } : { id: one }),
        // Without it the machine sends neither "bootstrapped" nor failures.
        apiVersion: 1,
      });
      for await (const reply of caller.stream(WATCH, request, STREAM_TIMEOUT_MS, options)) {
        // The first reply is empty: the watch stands.
        for (const event of reply.event) {
          const seen = toEvent(kind, event, { node: nodeOf(options), method: WATCH.path });
          if (seen !== undefined) yield seen;
        }
      }
    },
  };
}

function idOf(kind: ResourceKind<unknown>, id: string | undefined): string {
  const known = id ?? kind.id;
  if (known === undefined) throw new TypeError(`${kind.type} has no id of its own: give one to get()`);
  return known;
}

interface Facts {
  readonly node: string;
  readonly method: string;
}

function toEvent<T>(kind: ResourceKind<T>, event: Event, facts: Facts): ResourceEvent<T> | undefined {
  switch (event.eventType) {
    case EventType.CREATED:
    case EventType.UPDATED:
      return { kind: "current", resource: toResource(kind, event.resource, facts) };
    case EventType.DESTROYED:
      return { kind: "destroyed", id: event.resource?.metadata?.id ?? "" };
    case EventType.BOOTSTRAPPED:
      return { kind: "bootstrapped" };
    case EventType.ERRORED:
      return { kind: "failed", reason: event.error ?? "" };
    default:
      // NOOP carries a bookmark only; what a newer COSI adds says nothing about resources that we know.
      return undefined;
  }
}

function toResource<T>(kind: ResourceKind<T>, resource: ProtoResource | undefined, facts: Facts): Resource<T> {
  const metadata = resource?.metadata;
  if (resource === undefined || metadata === undefined)
    throw new TalosError("MALFORMED_REPLY", facts, `${kind.type} came without metadata`);
  try {
    return {
      namespace: metadata.namespace,
      type: metadata.type,
      id: metadata.id,
      version: metadata.version,
      phase: metadata.phase,
      owner: metadata.owner,
      labels: metadata.labels,
      createdAt: metadata.created === undefined ? undefined : timestampMs(metadata.created),
      updatedAt: metadata.updated === undefined ? undefined : timestampMs(metadata.updated),
      spec: kind.parse({ yaml: resource.spec?.yamlSpec ?? "", proto: resource.spec?.protoSpec ?? new Uint8Array() }),
    };
  } catch (thrown) {
    if (!(thrown instanceof SpecFault)) throw thrown;
    throw new TalosError("MALFORMED_REPLY", facts, `${kind.type} ${metadata.id}: ${thrown.message}`);
  }
}
