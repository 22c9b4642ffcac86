import type { KubeCallOptions, KubeRequest, KubeResponse, KubeTransport } from "@talos-operator/ports";
import type { KubeObject } from "../objects/kube-object.ts";
import type { ResourceType } from "../request/resource-type.ts";
import { type CallSubject, callText, errorOfResponse, isRead } from "./error-of-response.ts";
import { createFlowGate } from "./flow-control.ts";
import { KubeApiError } from "./kube-api-error.ts";
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
 */
export function createKubeClient(transport: KubeTransport, ports?: RetryPorts): KubeClient {
  const gate = ports?.flowControl === undefined ? undefined : createFlowGate(ports.timers, ports.flowControl);
  const sendOnce = async (request: KubeRequest, options: KubeCallOptions): Promise<KubeResponse> => {
    await gate?.enter(options.signal);
    return transport.send(request, options);
  };
  const call = async (request: KubeRequest, options: KubeCallOptions, subject: CallSubject): Promise<KubeResponse> => {
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

/** The part of richer options that a transport understands. */
export function callOptions(options: KubeCallOptions): KubeCallOptions {
  return {
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  };
}

/** Error of a call that got no answer. */
export function givenUp(thrown: unknown, signal: AbortSignal | undefined, subject: CallSubject): KubeApiError {
  const call = callText(subject);
  if (signal?.aborted === true && !(thrown instanceof KubeApiError)) {
    return new KubeApiError("CANCELED", { call, detail: "the caller gave the call up", cause: thrown });
  }
  return KubeApiError.from(thrown, call, isRead(subject));
}
