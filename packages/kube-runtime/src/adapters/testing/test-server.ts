import type { IncomingMessage, ServerResponse } from "node:http";
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse, type SecureServerOptions } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
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
    readonly httpVersion: string;
    readonly peer: string | undefined;
  }[];
  /** Breaks all connections. */
  reset(): void;
  close(): Promise<void>;
}

/** What a test server offers: `h2` and HTTP/1.1, or the latter alone. */
export type TestProtocol = "h2" | "http/1.1";

/** Starts a server; client certificates are asked for and reported, not required. */
export async function startTestServer(
  authority: TestAuthority,
  listener: (request: IncomingMessage, response: ServerResponse, count: number) => void,
  options: { readonly port?: number; readonly speaks?: TestProtocol; readonly http2?: SecureServerOptions } = {},
): Promise<TestServer> {
  const { certificate, key } = await authority.server();
  const sockets = new Set<Socket>();
  const requests: TestServer["requests"][number][] = [];
  let connections = 0;
  const handler = (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void => {
    const { method = "", url = "", headers, socket, httpVersion } = request;
    const subject = "getPeerCertificate" in socket ? socket.getPeerCertificate().subject : undefined;
    const commonName = subject?.CN;
    requests.push({ method, url, headers, httpVersion, peer: Array.isArray(commonName) ? commonName[0] : commonName });
    // What a listener here uses is the same in both.
    listener(request as IncomingMessage, response as ServerResponse, requests.length);
  };
  const tls = { cert: certificate, key, ca: authority.ca, requestCert: true, rejectUnauthorized: false };
  const server: TlsServer =
    options.speaks === "http/1.1"
      ? createServer(tls, handler)
      : createSecureServer({ ...tls, allowHTTP1: true, ...options.http2 }, handler);
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
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

/** Breaks the connection that a request came on, not just its stream. */
export function breakConnection(request: IncomingMessage): void {
  if ("stream" in request) (request as unknown as Http2ServerRequest).stream.session?.destroy();
  else request.socket.destroy();
}
