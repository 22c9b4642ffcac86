import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { configDefinitions, cosi, cosiMeta, emitYaml, resourceSpecs } from "@talos-operator/talos/protocol";
import type { YamlValue } from "@talos-operator/talos/protocol";
import { toBinary } from "@bufbuild/protobuf";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import { definitionsFor, namespaces } from "../resources/definitions.ts";
import { encodeSpec } from "../resources/proto-spec.ts";
import type { PlainSpec } from "../resources/proto-spec.ts";
import { definitionType, listResources, namespaceType } from "../resources/store.ts";
import type { StoredResource } from "../resources/store.ts";
import type { HandlerContext } from "./context.ts";
import { MessageQueue } from "./queue.ts";

/** State/Get. */
export function cosiGet(context: HandlerContext, request: cosi.GetRequest): cosi.GetResponse {
  requireReadable(context, request.namespace, request.type);
  const found = listResources(context.world, context.cell, request.type, request.namespace).find((resource) => resource.id === request.id);
  if (found === undefined) {
    throw new RpcError(grpcStatus.notFound, `resource ${request.type}(${request.namespace}/${request.id}@undefined) doesn't exist`);
  }
  return create(cosi.GetResponseSchema, { resource: messageOf(found) });
}

/** State/List: one message per resource. */
export async function* cosiList(context: HandlerContext, request: cosi.ListRequest): AsyncIterable<cosi.ListResponse> {
  requireReadable(context, request.namespace, request.type);
  const wanted = idFilter(request.options?.idQuery?.regexp);
  await Promise.resolve();
  for (const resource of listResources(context.world, context.cell, request.type, request.namespace)) {
    if (wanted(resource.id)) yield create(cosi.ListResponseSchema, { resource: messageOf(resource) });
  }
}

/**
 * State/Watch: an empty message when it is established. For one id then its current state (or DESTROYED when there is none), for a kind with
 * `bootstrap_contents` everything and, from `api_version` 1, BOOTSTRAPPED; then what changes.
 */
export async function* cosiWatch(context: HandlerContext, request: cosi.WatchRequest): AsyncIterable<cosi.WatchResponse> {
  requireReadable(context, request.namespace, request.type);
  const { world, cell, signal } = context;
  const isSingle = request.id !== undefined && request.id !== "";
  const byQuery = idFilter(request.options?.idQuery?.regexp);
  const wanted = isSingle ? (id: string): boolean => id === request.id : byQuery;
  const look = (): ReadonlyMap<string, StoredResource> =>
    new Map(
      listResources(world, cell, request.type, request.namespace)
        .filter((resource) => wanted(resource.id))
        .map((resource) => [resource.id, resource]),
    );
  const queue = new MessageQueue<cosi.Event>(signal);
  let known = look();
  const compare = (): void => {
    const now = look();
    for (const event of changesBetween(known, now)) queue.push(event);
    known = now;
  };
  // Members and endpoints depend on other machines as well.
  const end = world.onMachine(compare);
  try {
    yield create(cosi.WatchResponseSchema, {});
    if (isSingle) {
      const current = known.get(request.id ?? "");
      yield responseOf(
        current === undefined ? tombstone(context, request.namespace, request.type, request.id ?? "") : eventOf("CREATED", current),
      );
    } else if (request.options?.bootstrapContents === true) {
      for (const resource of known.values()) yield responseOf(eventOf("CREATED", resource));
      if (request.apiVersion >= 1) yield responseOf(bootstrapped(context, request.namespace, request.type));
    }
    for await (const event of queue) yield responseOf(event);
  } finally {
    end();
  }
}

/** Create, Update, Destroy, Teardown: nobody writes from outside. */
export function cosiWriteRefused(): never {
  throw new RpcError(grpcStatus.permissionDenied, "write access is not allowed");
}

function requireReadable({ cell, roles }: HandlerContext, namespace: string, type: string): void {
  const definition = definitionsFor(cell.state.hardware.talosVersion).get(type);
  if (definition === undefined) {
    throw new RpcError(grpcStatus.permissionDenied, `resource type "${type}" is not supported`);
  }
  if (namespaces[namespace] === undefined) throw new RpcError(grpcStatus.permissionDenied, `namespace "${namespace}" is not supported`);
  if (definition.isSensitive && !roles.has("os:admin")) throw new RpcError(grpcStatus.permissionDenied, "not authorized");
}

function idFilter(regexp: string | undefined): (id: string) => boolean {
  if (regexp === undefined || regexp === "") return () => true;
  const expression = new RegExp(regexp);
  return (id) => expression.test(id);
}

function changesBetween(before: ReadonlyMap<string, StoredResource>, now: ReadonlyMap<string, StoredResource>): readonly cosi.Event[] {
  const changes: cosi.Event[] = [];
  for (const [id, resource] of now) {
    const old = before.get(id);
    if (old === undefined) changes.push(eventOf("CREATED", resource));
    else if (old.version !== resource.version || old.created !== resource.created) changes.push(eventOf("UPDATED", resource, old));
  }
  for (const [id, old] of before) if (!now.has(id)) changes.push(eventOf("DESTROYED", old));
  return changes;
}

function eventOf(type: "CREATED" | "UPDATED" | "DESTROYED", resource: StoredResource, old?: StoredResource): cosi.Event {
  return create(cosi.EventSchema, {
    resource: messageOf(resource),
    eventType: cosi.EventType[type],
    ...(old === undefined ? {} : { old: messageOf(old) }),
  });
}

function tombstone(context: HandlerContext, namespace: string, type: string, id: string): cosi.Event {
  return create(cosi.EventSchema, { resource: placeholder(context, namespace, type, id), eventType: cosi.EventType.DESTROYED });
}

function bootstrapped(context: HandlerContext, namespace: string, type: string): cosi.Event {
  return create(cosi.EventSchema, { resource: placeholder(context, namespace, type, ""), eventType: cosi.EventType.BOOTSTRAPPED });
}

function placeholder({ world }: HandlerContext, namespace: string, type: string, id: string): cosi.Resource {
  const now = timestampFromMs(world.clock.now());
  return create(cosi.ResourceSchema, {
    metadata: { namespace, type, id, version: "undefined", phase: "running", created: now, updated: now },
    spec: {},
  });
}

function responseOf(event: cosi.Event): cosi.WatchResponse {
  return create(cosi.WatchResponseSchema, { event: [event] });
}

/** Resources as messages: the store gives the same object while nothing changes. */
const messages = new WeakMap<StoredResource, cosi.Resource>();

function messageOf(resource: StoredResource): cosi.Resource {
  const known = messages.get(resource);
  if (known !== undefined) return known;
  const message = printed(resource);
  messages.set(resource, message);
  return message;
}

function printed(resource: StoredResource): cosi.Resource {
  const message = create(cosi.ResourceSchema, {
    metadata: {
      namespace: resource.namespace,
      type: resource.type,
      id: resource.id,
      version: String(resource.version),
      owner: resource.owner,
      phase: "running",
      created: timestampFromMs(resource.created),
      updated: timestampFromMs(resource.updated),
      annotations: { ...resource.annotations },
    },
    spec: { yamlSpec: yamlSpecOf(resource.spec) },
  });
  // Callers in the same process read the YAML; only a wire needs the other form.
  let encoded: Uint8Array | undefined;
  if (message.spec !== undefined)
    Object.defineProperty(message.spec, "protoSpec", {
      get: () => (encoded ??= protoSpecOf(resource)),
      enumerable: true,
      configurable: true,
    });
  return message;
}

/** Numbers of machine types, whose message is a bare number. */
const machineTypeNumbers: Readonly<Record<string, number>> = { unknown: 0, init: 1, controlplane: 2, worker: 3 };

function protoSpecOf(resource: StoredResource): Uint8Array {
  if (resource.type === definitionType)
    return encodeSpec(cosiMeta.ResourceDefinitionSpecSchema, {
      ...(resource.spec as PlainSpec),
      resourceType: (resource.spec as PlainSpec)["type"],
    });
  if (resource.type === namespaceType) return encodeSpec(cosiMeta.NamespaceSpecSchema, resource.spec as PlainSpec);
  if (resource.type === "MachineConfigs.config.talos.dev") {
    return toBinary(
      configDefinitions.MachineConfigSpecSchema,
      create(configDefinitions.MachineConfigSpecSchema, { yamlMarshalled: Buffer.from(String(resource.spec)) }),
    );
  }
  if (resource.type === "MachineTypes.config.talos.dev") {
    const number = machineTypeNumbers[String(resource.spec)] ?? 0;
    return number === 0 ? new Uint8Array() : Uint8Array.of(0x08, number);
  }
  const schema = resourceSpecs[resource.type]?.schema;
  if (schema === undefined) return new Uint8Array();
  if (resource.type.startsWith("StaticPod")) return encodeSpec(schema, { podStatus: resource.spec, pod: resource.spec });
  return encodeSpec(schema, resource.spec as PlainSpec);
}

function yamlSpecOf(spec: unknown): string {
  // A machine config is a string scalar with its line breaks escaped.
  return typeof spec === "string" && spec.includes("\n") ? `${JSON.stringify(spec)}\n` : emitYaml(spec as YamlValue);
}
