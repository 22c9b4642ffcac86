import { isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { keyOf } from "../kinds/kind.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import { badRequest, conflict, invalid, methodNotAllowed, notFound, StatusError } from "../request/status.ts";
import { parseCount } from "../request/parse-count.ts";
import type { ApiAnswer } from "../request/request.ts";
import { timestampOf } from "./context.ts";
import type { ApiContext, ResourceCall } from "./context.ts";
import { readLive } from "./resource-routes.ts";

const nodes = "/nodes";

/**
 * What kube-apiserver would ask a kubelet or a Service for: logs, commands, ports. Nothing runs here, so that the answer is always the one of a
 * machine that is not there; a pod that runs nowhere has empty logs.
 */
export const connections: Readonly<Record<string, (context: ApiContext, call: ResourceCall, verb: string) => ApiAnswer>> = {
  "/pods/log": logs,
  "/pods/exec": stream,
  "/pods/attach": stream,
  "/pods/portforward": stream,
  "/pods/proxy": (context, call) => {
    readLive(context, objectOf(call));
    throw badRequest("address not allowed");
  },
  "/services/proxy": (_, call) => {
    // Nothing is behind a Service, so that it is as if it were not there; a port may follow its name.
    throw notFound(call.kind, call.name.split(":")[0] ?? "");
  },
  "/nodes/proxy": (context, call) => {
    readLive(context, objectOf(call));
    throw unreachable(context, call.name, "nodes");
  },
};

/** POST of `/pods/<name>/binding`: puts a pod on a node, once. */
export function bindingRoute(context: ApiContext, call: ResourceCall): JsonObject {
  const { body } = call.request;
  const target = isObject(body) ? objectAt(body, "target") : {};
  const node = stringAt(target, "name") ?? "";
  const named = { group: "", plural: "pods/binding" };
  if (!isObject(body) || body["kind"] !== "Binding") throw badRequest("the request body must hold one Binding of v1");
  if (stringAt(metadataOf(body), "name") !== call.name) throw badRequest("name in URL does not match name in Binding object");
  const wanted = stringAt(target, "kind") ?? "";
  if (wanted !== "" && wanted !== "Node")
    throw new StatusError(500, "", `target.kind: Unsupported value: ${JSON.stringify(wanted)}: supported values: "Node", "<empty>"`);
  if (node === "") throw new StatusError(500, "", "target.name: Required value");
  const pod = readLive(context, objectOf(call));
  const spec = objectAt(pod, "spec");
  const bound = stringAt(spec, "nodeName") ?? "";
  if (metadataOf(pod)["deletionTimestamp"] !== undefined)
    throw conflict(named, call.name, `pod ${call.name} is being deleted, cannot be assigned to a host`);
  if (bound !== "") throw conflict(named, call.name, `pod ${call.name} is already assigned to node ${JSON.stringify(bound)}`);
  const status = objectAt(pod, "status");
  const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: timestampOf(context.clock.now()) };
  const conditions = [...objectsAt(status, "conditions").filter(({ type }) => type !== "PodScheduled"), scheduled];
  context.state.put(call.kind.resource, keyOf(call.namespace, call.name), {
    ...pod,
    spec: { ...spec, nodeName: node },
    status: { ...status, conditions },
  });
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

const objectOf = (call: ResourceCall): ResourceCall => ({ ...call, subresource: "" });

function logs(context: ApiContext, call: ResourceCall, verb: string): ApiAnswer {
  if (verb !== "get") throw methodNotAllowed();
  const { query } = call.request;
  for (const name of ["sinceSeconds", "tailLines", "limitBytes"]) {
    const text = query[name] ?? "";
    parseCount(text);
    const least = name === "tailLines" ? 0 : 1;
    if (text === "" || Number(text) >= least) continue;
    const message = `Invalid value: ${Number(text)}: must be greater than ${least === 0 ? "or equal to 0" : "0"}`;
    throw invalid("", "PodLogOptions", call.name, [{ reason: "FieldValueInvalid", field: name, message }]);
  }
  const pod = readLive(context, objectOf(call));
  checkContainer(pod, call.name, query["container"] ?? "");
  const node = stringAt(objectAt(pod, "spec"), "nodeName") ?? "";
  if (node !== "") throw unreachable(context, node, "pods");
  return { kind: "answer", status: 200, headers: { "content-type": "text/plain" }, body: "" };
}

function stream(context: ApiContext, call: ResourceCall, verb: string): never {
  if (verb !== "get" && verb !== "create") throw methodNotAllowed();
  const pod = readLive(context, objectOf(call));
  if (call.subresource !== "portforward") checkContainer(pod, call.name, call.request.query["container"] ?? "");
  const node = stringAt(objectAt(pod, "spec"), "nodeName") ?? "";
  throw node === "" ? badRequest(`pod ${call.name} does not have a host assigned`) : unreachable(context, node, "pods");
}

function checkContainer(pod: JsonObject, name: string, wanted: string): void {
  const spec = objectAt(pod, "spec");
  const names = ["initContainers", "containers", "ephemeralContainers"].flatMap((list) =>
    objectsAt(spec, list).map((found) => stringAt(found, "name") ?? ""),
  );
  if (wanted !== "") {
    if (!names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`);
  } else if (objectsAt(spec, "containers").length > 1) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(" ")}]`);
  }
}

/** The kubelet of a node that nobody can talk to. `plural` is what the genuine server takes the missing node for. */
function unreachable(context: ApiContext, node: string, plural: "pods" | "nodes"): StatusError {
  const entry = context.state.get(nodes, keyOf("", node));
  if (entry === undefined) return notFound({ group: "", plural }, node);
  const addresses = objectsAt(objectAt(entry.object, "status"), "addresses");
  return new StatusError(
    500,
    "",
    addresses.length === 0
      ? "no preferred addresses found; known addresses: []"
      : `the kubelet of node ${JSON.stringify(node)} is not asked for anything by this API; look at the machine itself`,
  );
}
