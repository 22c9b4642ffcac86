import type { KubeCallOptions, KubeRequest, KubeResponse, KubeTransport } from "@talos-operator/ports";
import type { KubeObject } from "../objects/kube-object.ts";
import type { ResourceType } from "../request/resource-type.ts";
import { type Call, callOptions, givenUp } from "./call.ts";
import { errorOfResponse } from "./error-of-response.ts";
import { createFlowGate } from "./flow-control.ts";
import { createResourceClient } from "./create-resource-client.ts";
import type { ResourceClient } from "./resource-client.ts";
import { type RetryPorts, sendWithRetry } from "./retry.ts";

/** Sends requests over one transport and hands out typed clients. */
export interface KubeClient {
  readonly transport: KubeTransport;
  /** Client for one kind. Cheap: make it where it is used. */
  resource<T extends KubeObject = KubeObject>(type: ResourceType): ResourceClient<T>;
  /**
   * Any request, for paths that are no resource (`/version`, `/readyz`). Answers below 400 come back, others throw.
   *
   * @throws KubeApiError
   */
  send(request: KubeRequest, options?: KubeCallOptions): Promise<KubeResponse>;
}

/**
 * Client over a transport. It has no state of its own and need not be closed; the transport does.
 *
 * @param ports timers and randomness for repeating idempotent calls after 429 and 503; without them every call is sent once
 * @param fieldManager of every write that names none itself
 */
export function createKubeClient(transport: KubeTransport, ports?: RetryPorts, fieldManager?: string): KubeClient {
  const gate = ports?.flowControl === undefined ? undefined : createFlowGate(ports.timers, ports.flowControl);
  const sendOnce = async (request: KubeRequest, options: KubeCallOptions): Promise<KubeResponse> => {
    await gate?.enter(options.signal);
    return transport.send(request, options);
  };
  const call: Call = async (asked, options, subject) => {
    const request = fieldManager === undefined ? asked : managedBy(asked, fieldManager);
    let response: KubeResponse;
    try {
      response = await sendWithRetry(
        gate === undefined ? (again, given) => transport.send(again, given) : sendOnce,
        request,
        callOptions(options),
        ports,
      );
    } catch (thrown) {
      throw givenUp(thrown, options.signal, subject);
    }
    if (response.status >= 400) throw errorOfResponse(response, subject);
    return response;
  };
  return {
    transport,
    resource: <T extends KubeObject>(type: ResourceType) => createResourceClient<T>(type, transport, call),
    send: (request, options = {}) => call(request, options, { verb: request.method.toLowerCase(), plural: request.path, key: "" }),
  };
}

/** Methods that write fields, which somebody manages from then on. */
const WRITES: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

function managedBy(request: KubeRequest, fieldManager: string): KubeRequest {
  return WRITES.has(request.method) ? { ...request, query: { fieldManager, ...request.query } } : request;
}
