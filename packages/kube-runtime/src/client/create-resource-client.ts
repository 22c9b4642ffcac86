import type { KubeCallOptions, KubeRequest, KubeTransport, KubeWatchEvent } from "@talos-operator/ports";
import type { KubeList, KubeObject } from "../objects/kube-object.ts";
import { keyText } from "../objects/kube-object.ts";
import {
  buildApply,
  buildCreate,
  buildDelete,
  buildDeleteCollection,
  buildGet,
  buildList,
  buildPatch,
  buildUpdate,
  buildWatch,
} from "../request/build.ts";
import type { ListPageOptions, WriteOptions } from "../request/call-options.ts";
import { apiVersionOf, type ObjectKey, type ResourceType } from "../request/resource-type.ts";
import { type Call, callOptions, givenUp } from "./call.ts";
import { isNotFound } from "./error-predicates.ts";
import { type CallSubject, callText, errorOfResponse, isRecord, parseStatus } from "./error-of-response.ts";
import { KubeApiError } from "./kube-api-error.ts";
import type { KubeWatch, ResourceClient, SubresourceClient, WatchEvent } from "./resource-client.ts";

/** Typed client of one kind over `call`, which retries and turns bad answers into errors. */
export function createResourceClient<T extends KubeObject>(type: ResourceType, transport: KubeTransport, call: Call): ResourceClient<T> {
  const subject = (verb: string, key: ObjectKey | string | undefined): CallSubject =>
    typeof key === "object"
      ? { verb, plural: type.plural, key: keyText(key), name: key.name }
      : { verb, plural: type.plural, key: key ?? "" };
  const typed = <O extends object>(object: O): O => ({ apiVersion: apiVersionOf(type), kind: type.kind, ...object });

  async function oneOf<O>(request: KubeRequest, options: KubeCallOptions, about: CallSubject): Promise<O> {
    const { body, status } = await call(request, options, about);
    if (isRecord(body) && isRecord(body["metadata"]) && body["kind"] !== "Status") return body as O;
    throw unexpected(about, status, "the answer is not an object with metadata");
  }
  const one = (request: KubeRequest, options: KubeCallOptions, about: CallSubject): Promise<T> => oneOf<T>(request, options, about);

  function keyIn(object: {
    readonly metadata?: { readonly name?: string | undefined; readonly namespace?: string | undefined } | undefined;
  }): ObjectKey {
    return { namespace: object.metadata?.namespace, name: object.metadata?.name ?? "" };
  }

  async function listPage(options: ListPageOptions & KubeCallOptions = {}): Promise<KubeList<T>> {
    const about = subject("list", options.namespace);
    const { body, status } = await call(buildList(type, options), options, about);
    return parseList<T>(body, () => unexpected(about, status, "the answer is not a complete list"), typed);
  }

  return {
    type,
    get: async (key, options = {}) => one(buildGet(type, key, options), options, subject("get", key)),
    async tryGet(key, options = {}) {
      try {
        return await one(buildGet(type, key, options), options, subject("get", key));
      } catch (thrown) {
        if (isNotFound(thrown)) return undefined;
        throw thrown;
      }
    },
    listPage,
    async list({ pageSize = 500, ...options } = {}) {
      const items: T[] = [];
      let page = await listPage({ ...options, limit: pageSize });
      items.push(...page.items);
      while (page.continue !== undefined) {
        const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options;
        page = await listPage({ ...rest, limit: pageSize, continue: page.continue });
        for (const item of page.items) items.push(item);
      }
      return { items, resourceVersion: page.resourceVersion };
    },
    async watch(options) {
      const about = subject("watch", options.namespace);
      try {
        const response = await transport.watch(buildWatch(type, options), callOptions(options));
        if (response.status !== 200) throw errorOfResponse(response, about);
        return { events: watchEvents<T>(response.events, about, options.signal) } satisfies KubeWatch<T>;
      } catch (thrown) {
        throw givenUp(thrown, options.signal, about);
      }
    },
    create: async (object, options = {}) => {
      const key = keyIn(object);
      return one(
        buildCreate(type, type.namespaced ? required(type, key) : undefined, typed(object), options),
        options,
        subject("create", key),
      );
    },
    async createSubresource(key, subresource, object, options = {}) {
      const about = { ...subject("create", key), plural: `${type.plural}/${subresource}` };
      return (await call(buildCreate(type, key.namespace, object, options, { key, subresource }), options, about)).body;
    },
    subresource<S extends KubeObject>(name: string): SubresourceClient<S> {
      const about = (verb: string, key: ObjectKey): CallSubject => ({ ...subject(verb, key), plural: `${type.plural}/${name}` });
      return {
        get: async (key, options = {}) => oneOf<S>(buildGet(type, key, options, name), options, about("get", key)),
        update: async (key, object, options = {}) => oneOf<S>(buildUpdate(type, key, object, options, name), options, about("update", key)),
        patch: async (key, patch, options = {}) => oneOf<S>(buildPatch(type, key, patch, options, name), options, about("patch", key)),
        apply: async (key, object, options) => oneOf<S>(buildApply(type, key, object, options, name), options, about("apply", key)),
      };
    },
    update: async (object, options = {}) =>
      one(buildUpdate(type, keyIn(object), typed(object), options), options, subject("update", keyIn(object))),
    updateStatus: async (object, options = {}) =>
      one(buildUpdate(type, keyIn(object), typed(object), options, "status"), options, subject("update status of", keyIn(object))),
    patch: async (key, patch, options: WriteOptions & KubeCallOptions = {}) =>
      one(buildPatch(type, key, patch, options), options, subject("patch", key)),
    patchStatus: async (key, patch, options: WriteOptions & KubeCallOptions = {}) =>
      one(buildPatch(type, key, patch, options, "status"), options, subject("patch status of", key)),
    apply: async (object, options) =>
      one(buildApply(type, keyIn(object), typed(object), options), options, subject("apply", keyIn(object))),
    applyStatus: async (object, options) =>
      one(buildApply(type, keyIn(object), typed(object), options, "status"), options, subject("apply status of", keyIn(object))),
    async delete(key, options = {}) {
      const { body } = await call(buildDelete(type, key, options), options, subject("delete", key));
      return isRecord(body) && body["kind"] !== "Status" && isRecord(body["metadata"]) ? (body as T) : undefined;
    },
    async deleteCollection(selected, options = {}) {
      await call(buildDeleteCollection(type, selected, options), options, subject("delete collection of", selected.namespace));
    },
  };
}

/**
 * Reads a list answer. An answer without `items` or resourceVersion is an error and never an empty list:
 * "nothing there" is a statement that must have been made.
 */
function parseList<T>(body: unknown, error: () => Error, typed: <O extends object>(object: O) => O): KubeList<T> {
  if (!isRecord(body) || !isRecord(body["metadata"]) || typeof body["kind"] !== "string" || !body["kind"].endsWith("List")) throw error();
  const { resourceVersion, continue: next } = body["metadata"];
  const items = body["items"] ?? [];
  if (typeof resourceVersion !== "string" || resourceVersion === "" || !("items" in body) || !Array.isArray(items)) throw error();
  // Built-in kinds come without apiVersion and kind inside a list.
  const objects = items.map((item: unknown) => {
    if (!isRecord(item)) throw error();
    return (item["kind"] === undefined ? typed(item) : item) as T;
  });
  return { items: objects, resourceVersion, ...(typeof next === "string" && next !== "" ? { continue: next } : {}) };
}

async function* watchEvents<T extends KubeObject>(
  events: AsyncIterable<KubeWatchEvent>,
  about: CallSubject,
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchEvent<T>> {
  try {
    for await (const event of events) {
      if (event.type === "ERROR") {
        const status = parseStatus(event.object);
        throw errorOfResponse({ status: status?.code ?? 500, headers: {}, body: event.object }, about);
      }
      const object = event.object as T;
      if (event.type === "BOOKMARK") {
        const isEndOfList = object.metadata?.annotations?.["k8s.io/initial-events-end"] === "true";
        yield { type: "BOOKMARK", resourceVersion: object.metadata?.resourceVersion ?? "", isEndOfList };
      } else yield { type: event.type, object };
    }
  } catch (thrown) {
    throw givenUp(thrown, signal, about);
  }
}

function required(type: ResourceType, key: ObjectKey): string {
  if (key.namespace !== undefined && key.namespace !== "") return key.namespace;
  throw new KubeApiError("INVALID_CALL", {
    call: `create ${type.plural} ${key.name}`,
    detail: `${type.kind} is namespaced, yet the object has no namespace`,
  });
}

function unexpected(about: CallSubject, status: number, detail: string): KubeApiError {
  return new KubeApiError("UNEXPECTED_ANSWER", { call: callText(about), detail, status });
}
