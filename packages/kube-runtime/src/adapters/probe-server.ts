import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { KubeApiError } from "../client/kube-api-error.ts";
import type { ManagerHealth } from "../manager/types.ts";
import { metricsContentType } from "../metrics/create-metrics-registry.ts";
import type { MetricsRegistry } from "../metrics/types.ts";

/** What to serve, and where. */
export interface ProbeServerOptions {
  /** `host:port`, `:port` for all interfaces, port 0 for one that the system chooses. */
  readonly address: string;
  /** Serves `/healthz` and `/readyz`. */
  readonly health?: () => Pick<ManagerHealth, "isReady" | "isAlive" | "problems">;
  /** Serves `/metrics`. */
  readonly metrics?: Pick<MetricsRegistry, "text">;
}

/** A listening server. */
export interface ProbeServer {
  readonly port: number;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const plain = "text/plain; charset=utf-8";
const requestTimeoutMs = 5_000;

/**
 * Serves probes and metrics over plain HTTP: `/healthz` is 200 while the manager is alive, `/readyz` while it is ready,
 * else 500 with one line per problem. Nothing secret is served and nothing can be changed; only GET and HEAD are answered.
 *
 * @throws KubeApiError `ADDRESS_UNUSABLE` when the address is none, taken or not this machine's
 */
export async function serveProbes(options: ProbeServerOptions): Promise<ProbeServer> {
  const { host, port } = parseAddress(options.address);
  const { health, metrics } = options;
  const routes: Readonly<Record<string, (() => Answer) | undefined>> = {
    "/healthz": health && (() => verdict(health().isAlive, health().problems)),
    "/readyz": health && (() => verdict(health().isReady, health().problems)),
    "/metrics": metrics && (() => ({ status: 200, contentType: metricsContentType, body: metrics.text() })),
  };
  const server = createServer({ requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs }, (request, response) =>
    respond(request, response, routes),
  );
  server.maxConnections = 100;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(unusable(options.address, cause.code ?? cause.message, cause)));
    server.listen({ port, ...(host === "" ? {} : { host }) }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function respond(request: IncomingMessage, response: ServerResponse, routes: Readonly<Record<string, (() => Answer) | undefined>>): void {
  const path = (request.url ?? "").split("?")[0] ?? "";
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  const { status, contentType, body } =
    request.method !== "GET" && request.method !== "HEAD"
      ? { status: 405, contentType: plain, body: "only GET and HEAD\n" }
      : (route?.() ?? { status: 404, contentType: plain, body: "not found\n" });
  const bytes = Buffer.from(body);
  response.writeHead(status, {
    "content-type": contentType,
    "content-length": bytes.length,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(request.method === "HEAD" ? undefined : bytes);
}

function verdict(isWell: boolean, problems: readonly string[]): Answer {
  return { status: isWell ? 200 : 500, contentType: plain, body: isWell ? "ok\n" : `${problems.join("\n")}\n` };
}

function parseAddress(text: string): { readonly host: string; readonly port: number } {
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(found?.[3]);
  if (found === null || port > 65_535) throw unusable(text, "it is not written as host:port or :port", undefined);
  return { host: found[1] ?? found[2] ?? "", port };
}

function unusable(address: string, detail: string, cause: unknown): KubeApiError {
  return new KubeApiError("ADDRESS_UNUSABLE", { call: `listen on ${address}`, detail, cause });
}
