import type { KubeTransport } from "@talos-operator/ports";
import type { MetricsRegistry } from "./types.ts";

/**
 * The same transport, with every answer counted in `rest_client_requests_total` by status code, method and host, as client-go does; a call
 * without an answer has the code `<error>`.
 */
export function measuredTransport(transport: KubeTransport, registry: MetricsRegistry, host: string): KubeTransport {
  const family = registry.counter({
    name: "rest_client_requests_total",
    help: "Requests to the Kubernetes API.",
    labels: ["code", "method", "host"],
  });
  async function counted<A extends { readonly status: number }>(method: string, call: Promise<A>): Promise<A> {
    let code = "<error>";
    try {
      const answer = await call;
      code = String(answer.status);
      return answer;
    } finally {
      family.with({ code, method, host }).add();
    }
  }
  return {
    send: (request, options) => counted(request.method, transport.send(request, options)),
    watch: (request, options) => counted(request.method, transport.watch(request, options)),
    close: () => transport.close(),
  };
}
