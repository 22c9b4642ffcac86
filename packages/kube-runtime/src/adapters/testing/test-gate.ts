import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A link to a loopback port that can go dead without saying so, as a cable that is cut. */
export interface TestGate {
  readonly port: number;
  /** TCP connections that came so far. */
  readonly connections: number;
  /** From now on nothing passes on the connections that are open; later ones work. */
  freeze(): void;
  close(): Promise<void>;
}

/** Opens a link to `port`. */
export async function startTestGate(port: number): Promise<TestGate> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    const far = connect(port, "127.0.0.1");
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far).pipe(near);
    for (const side of pair) {
      side.on("error", () => undefined); // either side may break off
      side.on("close", () => {
        if (!pairs.delete(pair)) return;
        near.destroy();
        far.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    freeze() {
      for (const [near, far] of pairs) {
        near.unpipe();
        far.unpipe();
        near.pause();
        far.pause();
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const pair of pairs) for (const side of pair) side.destroy();
      }),
  };
}
