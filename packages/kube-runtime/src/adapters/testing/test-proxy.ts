import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** An HTTP proxy on a free loopback port that opens tunnels (CONNECT) and nothing else. */
export interface TestProxy {
  readonly url: string;
  /** `host:port` of each tunnel that was asked for, with the credentials that came along. */
  readonly tunnels: readonly string[];
  /** Refuses all further tunnels with 403. */
  refuse(): void;
  close(): Promise<void>;
}

/** Starts a proxy. */
export async function startTestProxy(): Promise<TestProxy> {
  const tunnels: string[] = [];
  const sockets = new Set<Socket>();
  let isRefusing = false;
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on("connect", (request, client: Socket, head: Buffer) => {
    tunnels.push(`${request.url ?? ""} ${request.headers["proxy-authorization"] ?? ""}`.trim());
    sockets.add(client);
    client.on("error", () => undefined); // either side may break off
    if (isRefusing) {
      client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const upstream = connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on("error", () => client.destroy());
    sockets.add(upstream);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels,
    refuse: () => {
      isRefusing = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
