import assert from "node:assert/strict";
import type { KubeRequest, KubeResponse, KubeTransport, KubeWatchEvent } from "@talos-operator/ports";
import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt } from "../request/json.ts";

/** One behaviour that every Kubernetes API shows. */
export interface ConformanceCase {
  readonly name: string;
  readonly run: (world: World) => Promise<void>;
}

/** What an answer must say; members left out are not looked at. */
export interface Expected {
  readonly status: number;
  readonly reason?: string;
  /** The whole message, or a part of it as an expression. */
  readonly message?: string | RegExp;
  /** Fields of `details.causes`, in any order. */
  readonly causes?: readonly string[];
}

/** Group of the custom kinds that the suite installs. */
export const conformanceGroup = "conformance.example.com";

/** An API under test, with a namespace of its own for each case. */
export class World {
  readonly transport: KubeTransport;
  readonly namespace: string;

  constructor(transport: KubeTransport, namespace: string) {
    this.transport = transport;
    this.namespace = namespace;
  }

  /** `/api/v1/namespaces/<namespace>/<plural>[/<rest>]`. */
  core(plural: string, rest = ""): string {
    return `/api/v1/namespaces/${this.namespace}/${plural}${rest === "" ? "" : `/${rest}`}`;
  }

  /** Path of the custom kind `widgets`. */
  widgets(rest = ""): string {
    return `/apis/${conformanceGroup}/v1/namespaces/${this.namespace}/widgets${rest === "" ? "" : `/${rest}`}`;
  }

  /** A widget to send. */
  widget(name: string, spec: JsonObject = { size: 1 }, metadata: JsonObject = {}): JsonObject {
    return { apiVersion: `${conformanceGroup}/v1`, kind: "Widget", metadata: { name, ...metadata }, spec };
  }

  configMap(name: string, data: JsonObject = { a: "1" }, metadata: JsonObject = {}): JsonObject {
    return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
  }

  send(
    method: KubeRequest["method"],
    path: string,
    body?: unknown,
    more: Pick<KubeRequest, "query" | "headers"> = {},
  ): Promise<KubeResponse> {
    return this.transport.send({ method, path, ...(body === undefined ? {} : { body }), ...more });
  }

  get(path: string, query: Record<string, string> = {}): Promise<KubeResponse> {
    return this.send("GET", path, undefined, { query });
  }

  patch(
    path: string,
    type: "json" | "merge" | "strategic-merge" | "apply",
    body: unknown,
    query: Record<string, string> = {},
  ): Promise<KubeResponse> {
    const contentType = type === "apply" ? "application/apply-patch+yaml" : `application/${type}-patch+json`;
    return this.send("PATCH", path, body, { query, headers: { "content-type": contentType } });
  }

  /** Sends and expects 200 or 201; returns the object. */
  async ok(answer: Promise<KubeResponse>): Promise<JsonObject> {
    const response = await answer;
    assert.ok(response.status === 200 || response.status === 201, `${response.status}: ${JSON.stringify(response.body)}`);
    assert.ok(isObject(response.body));
    return response.body;
  }

  /** Creates in a collection and returns the stored object. */
  create(path: string, body: JsonObject, query: Record<string, string> = {}): Promise<JsonObject> {
    return this.ok(this.send("POST", path, body, { query }));
  }

  /** Expects a refusal. */
  async refused(answer: Promise<KubeResponse>, expected: Expected): Promise<JsonObject> {
    const { status, body } = await answer;
    assert.ok(isObject(body), `expected a Status, got ${JSON.stringify(body)}`);
    const seen = { status, reason: body["reason"], message: String(body["message"]) };
    const text = JSON.stringify(body);
    assert.equal(status, expected.status, text);
    assert.equal(body["kind"], "Status", text);
    assert.equal(body["status"], "Failure", text);
    assert.equal(body["code"], expected.status, text);
    if (expected.reason !== undefined) assert.equal(seen.reason ?? "", expected.reason, text);
    if (typeof expected.message === "string") assert.equal(seen.message, expected.message.replaceAll("$NS", this.namespace));
    else if (expected.message !== undefined) assert.match(seen.message, expected.message);
    if (expected.causes !== undefined) {
      const fields = objectsAt(objectAt(body, "details"), "causes").map((cause) => String(cause["field"]));
      assert.deepEqual(new Set(fields), new Set(expected.causes), text);
    }
    return body;
  }

  /** Collects events of a watch until `enough` says so. Bookmarks count as events. */
  async watch(
    path: string,
    query: Record<string, string>,
    enough: (events: readonly KubeWatchEvent[]) => boolean,
  ): Promise<readonly KubeWatchEvent[]> {
    const controller = new AbortController();
    const stream = await this.transport.watch({ method: "GET", path, query: { watch: "true", ...query } }, { signal: controller.signal });
    assert.equal(stream.status, 200, JSON.stringify(stream.body));
    const events: KubeWatchEvent[] = [];
    for await (const event of stream.events) {
      events.push(event);
      if (enough(events)) break;
    }
    controller.abort();
    return events;
  }
}

/** Each is a request or more over the wire; a server in this process is never behind itself. */
const MOST_TURNS = 100_000;

/** Asks again until it is so: a genuine server takes a moment until a change of a definition reaches its handlers. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < MOST_TURNS; turn++) if ((await unlessBrokenOff(isSo)) === true) return;
  assert.fail("it never came to be so");
}

/** Sends until the server is not in the middle of changing the handlers of the kind. */
export async function patiently(w: World, send: () => Promise<KubeResponse>): Promise<void> {
  let wasBrokenOff = false;
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    const response = await unlessBrokenOff(send);
    if (response === undefined) wasBrokenOff = true;
    // Nobody knew whether the request that was broken off had been carried out.
    else if (wasBrokenOff && response.status === 409) return;
    else if (response.status !== 503) return void (await w.ok(Promise.resolve(response)));
  }
  assert.fail("it was never answered");
}

/** `undefined` = at the very moment in which the handlers change a genuine server broke off the request that met them. */
async function unlessBrokenOff<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (thrown) {
    if ((thrown as { readonly code?: unknown }).code !== "ERR_HTTP2_STREAM_ERROR") throw thrown;
    return undefined;
  }
}

/** The metadata of an object. */
export function metaOf(object: unknown): JsonObject {
  return objectAt(object, "metadata");
}

/** Names of the items of a list. */
export function namesOf(list: unknown): readonly string[] {
  return objectsAt(list, "items").map((item) => String(metaOf(item)["name"]));
}

/** `TYPE name` of each event. */
export function describeEvents(events: readonly KubeWatchEvent[]): readonly string[] {
  return events.map((event) => `${event.type} ${stringAt(metaOf(event.object), "name") ?? ""}`.trim());
}
