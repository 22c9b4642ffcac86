import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createX509Keys } from "@talos-operator/adapters";
import type { KeyPair, Keys } from "@talos-operator/ports";

/** A CA with which tests sign what they need. */
export interface TestAuthority {
  readonly ca: string;
  server(): Promise<KeyPair>;
  client(commonName: string, organizations?: readonly string[]): Promise<KeyPair>;
}

/** A fresh CA. */
export async function createTestAuthority(): Promise<TestAuthority> {
  const keys: Keys = createX509Keys();
  const notBefore = Date.now() - 3_600_000;
  const authority = await keys.createAuthority({ kind: "p256", organization: "test", notBefore });
  const lifetimeMs = 86_400_000;
  return {
    ca: authority.certificate,
    server: () =>
      keys.signCertificate(authority, {
        usage: "server",
        commonName: "api",
        notBefore,
        lifetimeMs,
        dnsNames: ["localhost"],
        ipAddresses: ["127.0.0.1"],
      }),
    client: (commonName, organizations = []) =>
      keys.signCertificate(authority, { usage: "client", commonName, organizations, notBefore, lifetimeMs }),
  };
}

/** An HTTPS server on a free loopback port. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** TCP connections since the start. */
  readonly connections: number;
  readonly requests: readonly {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage["headers"];
    readonly peer: string | undefined;
  }[];
  /** Breaks all connections. */
  reset(): void;
  close(): Promise<void>;
}

/** Starts a server; client certificates are asked for and reported, not required. */
export async function startTestServer(
  authority: TestAuthority,
  listener: (request: IncomingMessage, response: ServerResponse, count: number) => void,
  port = 0,
): Promise<TestServer> {
  const { certificate, key } = await authority.server();
  const sockets = new Set<Socket>();
  const requests: TestServer["requests"][number][] = [];
  let connections = 0;
  const handler: RequestListener = (request, response) => {
    const { method = "", url = "", headers, socket } = request;
    const subject = "getPeerCertificate" in socket ? (socket as import("node:tls").TLSSocket).getPeerCertificate().subject : undefined;
    const commonName = subject?.CN;
    requests.push({ method, url, headers, peer: Array.isArray(commonName) ? commonName[0] : commonName });
    listener(request, response, requests.length);
  };
  const server: Server = createServer({ cert: certificate, key, ca: authority.ca, requestCert: true, rejectUnauthorized: false }, handler);
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: bound } = server.address() as AddressInfo;
  const reset = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `https://127.0.0.1:${bound}`,
    port: bound,
    get connections() {
      return connections;
    },
    requests,
    reset,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        reset();
      }),
  };
}

/** Answers with JSON. */
export function answerJson(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
