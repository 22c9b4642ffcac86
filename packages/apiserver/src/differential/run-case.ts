import { isDeepStrictEqual } from "node:util";
import type { KubeResponse, KubeTransport } from "@talos-operator/ports";
import { isObject, type JsonObject } from "../json.ts";

/** One request of a case. Bodies need no apiVersion, kind and name; the case's come in where they lack. */
export interface Step {
  readonly do: "create" | "replace" | "apply" | "merge" | "json" | "strategic" | "get" | "delete" | "table";
  readonly body?: unknown;
  readonly subresource?: "status" | "scale" | "approval";
  /** Field manager; default `tester`. */
  readonly manager?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Only the HTTP status is compared: the genuine server has parts (admission plugins) that ours leaves out. */
  readonly statusOnly?: true;
  /** The object that is answered is not compared: only what is said of it. */
  readonly verdictOnly?: true;
}

/** A sequence of requests about one object. */
export interface DifferentialCase {
  readonly name: string;
  readonly resource: Resource;
  /** The case is played in a namespace of its own with these labels, that is called like the object; else in `default`. */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

/** A kind under test. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** What a server said, without what differs between any two servers: uids, versions, times. */
export interface Answer {
  readonly status: number;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly causes?: unknown;
  readonly warnings?: readonly string[];
  readonly object?: unknown;
}

const contentTypes: Readonly<Record<string, string>> = {
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

/** Plays a case against a server and returns its answers. The object is deleted at the end. */
export async function runCase(
  transport: KubeTransport,
  { resource, namespaceLabels, steps }: DifferentialCase,
  name: string,
): Promise<Answer[]> {
  const namespace = namespaceLabels === undefined ? "default" : name;
  if (namespaceLabels !== undefined)
    await transport.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name, labels: namespaceLabels } } });
  const root = resource.apiVersion.includes("/") ? `/apis/${resource.apiVersion}` : `/api/${resource.apiVersion}`;
  const collection = `${root}${resource.namespaced ? `/namespaces/${namespace}` : ""}/${resource.plural}`;
  const answers: Answer[] = [];
  for (const step of steps) {
    const path = step.do === "create" ? collection : `${collection}/${name}${step.subresource === undefined ? "" : `/${step.subresource}`}`;
    const query = { fieldManager: step.manager ?? "tester", ...step.query };
    const named = async (): Promise<unknown> =>
      identify(
        step.body,
        resource,
        namespace,
        name,
        step.do === "replace" ? await versionOf(transport, `${collection}/${name}`) : undefined,
      );
    const answer = describe(await send(transport, step, path, query, named));
    const { object: _object, ...verdict } = answer;
    answers.push(step.statusOnly === true ? { status: answer.status } : step.verdictOnly === true ? verdict : answer);
  }
  await transport.send({ method: "DELETE", path: `${collection}/${name}` });
  if (namespaceLabels !== undefined) await transport.send({ method: "DELETE", path: `/api/v1/namespaces/${name}` });
  return answers;
}

async function send(
  transport: KubeTransport,
  step: Step,
  path: string,
  query: Record<string, string>,
  named: () => Promise<unknown>,
): Promise<KubeResponse> {
  switch (step.do) {
    case "create":
      return transport.send({ method: "POST", path, query, body: await named() });
    case "replace":
      return transport.send({ method: "PUT", path, query, body: await named() });
    case "get":
      return transport.send({ method: "GET", path });
    case "delete":
      return transport.send({ method: "DELETE", path });
    case "table":
      return transport.send({
        method: "GET",
        path,
        query: { includeObject: "None" },
        headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
      });
    default:
      return transport.send({
        method: "PATCH",
        path,
        query,
        headers: { "content-type": contentTypes[step.do] ?? "" },
        body: step.do === "apply" ? await named() : step.body,
      });
  }
}

function identify(body: unknown, resource: Resource, namespace: string, name: string, resourceVersion: string | undefined): unknown {
  if (!isObject(body)) return body;
  const metadata = isObject(body["metadata"]) ? body["metadata"] : {};
  return {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    ...body,
    metadata: {
      name,
      ...(resource.namespaced ? { namespace } : {}),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...metadata,
    },
  };
}

async function versionOf(transport: KubeTransport, path: string): Promise<string | undefined> {
  const { body } = await transport.send({ method: "GET", path });
  const metadata = isObject(body) ? body["metadata"] : undefined;
  return isObject(metadata) && typeof metadata["resourceVersion"] === "string" ? metadata["resourceVersion"] : undefined;
}

function describe({ status, headers, body }: KubeResponse): Answer {
  const warnings =
    headers["warning"] === undefined
      ? []
      : [...headers["warning"].matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/gu)]
          .map((found) => found[1] ?? "")
          // What is kept here and does not act says so: no genuine server has a reason to.
          .filter((text) => !text.startsWith("the embedded API keeps "))
          .sort();
  const seen = warnings.length > 0 ? { warnings } : {};
  if (!isObject(body)) return { status, ...seen, message: body };
  if (body["kind"] !== "Status") return { status, ...seen, object: body["kind"] === "Table" ? tableOf(body) : withoutVolatile(body) };
  const details = isObject(body["details"]) ? body["details"] : {};
  const causes = Array.isArray(details["causes"]) ? (details["causes"] as JsonObject[]) : [];
  const sorted = causes.map(withoutCompilerText).toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  // Go walks maps in random order, so with several causes the message has no fixed one either.
  return {
    status,
    ...seen,
    reason: body["reason"] ?? "",
    ...(causes.length > 1 ? { causes: sorted } : { message: sortLines(cutCompilerText(body["message"])), causes: sorted }),
  };
}

/** Where and why an expression does not compile is said in the words of its compiler, which is another one here. */
function cutCompilerText(message: unknown): unknown {
  return typeof message === "string" ? message.replace(/(compilation failed: ERROR: <input>).*$/su, "$1") : message;
}

function withoutCompilerText(cause: JsonObject): JsonObject {
  return { ...cause, message: cutCompilerText(cause["message"]) };
}

const orderOf = (cause: JsonObject): string => JSON.stringify([cause["field"], cause["reason"], cause["message"]]);

function sortLines(message: unknown): unknown {
  if (typeof message !== "string" || !message.includes("errors:\n")) return message;
  const [head, ...lines] = message.split("\n");
  return [head, ...lines.sort()].join("\n");
}

function tableOf(table: JsonObject): unknown {
  const columns = (table["columnDefinitions"] as JsonObject[]).map(({ name, type, format, priority }) => ({
    name,
    type,
    format,
    priority,
  }));
  const cells = (table["rows"] as JsonObject[]).map((row) =>
    (row["cells"] as unknown[]).map((cell) => (typeof cell === "string" && /^\d+s$/u.test(cell) ? "<seconds>" : cell)),
  );
  return { columns, cells };
}

const managerOrder = (entry: JsonObject): string => JSON.stringify([entry["operation"], entry["manager"], entry["subresource"]]);

function withoutVolatile(object: JsonObject): JsonObject {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : {};
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _created,
    deletionTimestamp: _deleted,
    managedFields,
    ...rest
  } = metadata;
  const fields = Array.isArray(managedFields)
    ? managedFields.map((entry: JsonObject) => ({ ...entry, time: typeof entry["time"] === "string" ? "<time>" : undefined }))
    : [];
  // Entries are ordered by time, and whether a second passes between two requests is chance.
  fields.sort((a: JsonObject, b: JsonObject) => (managerOrder(a) < managerOrder(b) ? -1 : 1));
  return JSON.parse(JSON.stringify({ ...object, metadata: { ...rest, managedFields: fields } })) as JsonObject;
}

/** The answers that differ, with their positions; empty when all agree. */
export function differences(
  genuine: readonly Answer[],
  ours: readonly Answer[],
): { readonly step: number; readonly genuine: Answer | undefined; readonly ours: Answer | undefined }[] {
  const length = Math.max(genuine.length, ours.length);
  return Array.from({ length }, (_, step) => ({ step, genuine: genuine[step], ours: ours[step] })).filter(
    (pair) => !isDeepStrictEqual(normal(pair.genuine), normal(pair.ours)),
  );
}

function normal(answer: Answer | undefined): unknown {
  return answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
}
