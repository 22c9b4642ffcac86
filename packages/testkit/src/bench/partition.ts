import { readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Stands between a client and the Kubernetes API, and can cut the wire so that nobody is told. */
export interface Partition {
  /** Writes a kubeconfig that leads through here, beside the given one. @returns its path */
  kubeconfigOf(kubeconfig: string): string;
  /** From now on nothing passes in either direction; connections stay open. */
  cut(): void;
  /** What comes now passes; what was lost stays lost: connections from before break. */
  heal(): void;
  close(): void;
}

export async function createPartition(): Promise<Partition> {
  let target: { readonly host: string; readonly port: number } | undefined;
  let isCut = false;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // Whoever was cut off gives up at some time: that is the point.
    socket.on("error", () => socket.destroy());
  };
  const server = createServer((near) => {
    keep(near);
    if (target === undefined) return near.destroy();
    const far = connect(target);
    keep(far);
    const pass = (from: Socket, to: Socket): void => {
      from.on("data", (bytes) => {
        if (!isCut) to.write(bytes);
      });
      from.on("close", () => {
        if (!isCut) to.destroy();
      });
    };
    pass(near, far);
    pass(far, near);
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    kubeconfigOf(kubeconfig) {
      const text = readFileSync(kubeconfig, "utf8");
      const [, host = "", port = ""] = /https:\/\/([\d.]+):(\d+)/.exec(text) ?? [];
      target = { host, port: Number(port) };
      const path = `${kubeconfig}.through`;
      writeFileSync(path, text.replace(`${host}:${port}`, `127.0.0.1:${(server.address() as AddressInfo).port}`), { mode: 0o600 });
      return path;
    },
    cut() {
      isCut = true;
    },
    heal() {
      isCut = false;
      for (const socket of sockets) socket.destroy();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
