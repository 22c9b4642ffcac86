import type { Socket } from "node:net";

/** A connection as both its layers, TCP and TLS, see it. */
type Peer = Pick<Socket, "remoteAddress" | "remotePort">;

/**
 * Counts connections, and makes room for the next one: when there are as many as there may be, the oldest of those goes on which nobody has
 * shown a credential. So thousands that say nothing, or half a thing, shut nobody out who comes after them, or came before them and is known.
 */
export class Connections {
  readonly #limit: number;
  /** By address and port of the peer, the oldest first. */
  readonly #strangers = new Map<string, Socket>();
  readonly #known = new Map<string, Socket>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes a new connection, or closes it when all others are known. */
  add(socket: Socket): void {
    const key = keyOf(socket);
    if (this.#strangers.size + this.#known.size >= this.#limit) {
      const [oldest] = this.#strangers;
      if (oldest === undefined) {
        socket.destroy();
        return;
      }
      this.#strangers.delete(oldest[0]);
      oldest[1].destroy();
    }
    this.#strangers.set(key, socket);
    socket.once("close", () => {
      // Another connection may have the port by now.
      for (const connections of [this.#strangers, this.#known]) if (connections.get(key) === socket) connections.delete(key);
    });
  }

  /** Somebody who is known asked for something on it. */
  know(peer: Peer): void {
    const key = keyOf(peer);
    const socket = this.#strangers.get(key);
    if (socket === undefined) return;
    this.#strangers.delete(key);
    this.#known.set(key, socket);
  }
}

function keyOf({ remoteAddress, remotePort }: Peer): string {
  return `${remoteAddress ?? ""} ${remotePort ?? 0}`;
}
