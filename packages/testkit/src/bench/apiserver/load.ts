import { once } from "node:events";
import { connect } from "node:tls";
import type { TLSSocket } from "node:tls";

/** Where and as whom. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** One request as text. */
export interface Sent {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
}

/** What a run showed. */
export interface LoadResult {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
}

/** Head and body of a request, for HTTP/1.1 on a connection that stays. */
function textOf({ method, path, body = "" }: Sent): string {
  const length = body === "" ? "" : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: bench\r\naccept: application/json\r\nuser-agent: bench\r\n${length}\r\n${body}`;
}

/** A connection that costs the client little, so that the figure is the server's: answers are counted, not parsed. */
class Connection {
  readonly #socket: TLSSocket;
  readonly #waiting: { resolve(): void; reject(error: Error): void }[] = [];
  #buffer: Buffer = Buffer.alloc(0);

  constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    // A connection that breaks while nobody waits for it (at the end) is nobody's concern.
    socket.on("error", (error) => {
      for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
    });
  }

  static async open(target: Target): Promise<Connection> {
    const socket = connect({ ...target, servername: "localhost", ALPNProtocols: ["http/1.1"] });
    await once(socket, "secureConnect");
    socket.setNoDelay(true);
    return new Connection(socket);
  }

  send(request: Sent): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#socket.write(textOf(request));
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    for (;;) {
      const end = this.#buffer.indexOf("\r\n\r\n");
      if (end === -1) return;
      const head = this.#buffer.toString("latin1", 0, end).toLowerCase();
      const length = /content-length: (\d+)/.exec(head)?.[1];
      if (length === undefined) throw new Error(`an answer without length cannot be counted: ${head}`);
      const whole = end + 4 + Number(length);
      if (this.#buffer.length < whole) return;
      const status = Number(head.slice(9, 12));
      const waiting = this.#waiting.shift();
      if (status < 400) waiting?.resolve();
      else
        waiting?.reject(new Error(`the server answered ${status}: ${this.#buffer.toString("utf8", end + 4, Math.min(whole, end + 500))}`));
      this.#buffer = this.#buffer.subarray(whole);
    }
  }
}

async function withConnections<T>(target: Target, count: number, use: (connections: readonly Connection[]) => Promise<T>): Promise<T> {
  const connections = await Promise.all(Array.from({ length: count }, () => Connection.open(target)));
  try {
    return await use(connections);
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Sends as fast as `connections` allow, one request under way on each, as HTTP clients do. @throws Error for an answer of 400 or more */
export function saturate(
  target: Target,
  options: { readonly connections: number; readonly total: number; readonly request: (index: number) => Sent },
): Promise<LoadResult> {
  return withConnections(target, options.connections, async (connections) => {
    const latenciesMs: number[] = [];
    let next = 0;
    const work = async (connection: Connection): Promise<void> => {
      while (next < options.total) {
        const begunAt = performance.now();
        await connection.send(options.request(next++));
        latenciesMs.push(performance.now() - begunAt);
      }
    };
    const begunAt = performance.now();
    await Promise.all(connections.map(work));
    return { perSecond: (options.total / (performance.now() - begunAt)) * 1000, latenciesMs };
  });
}

/** Sends `rate` requests a second whether or not the server keeps up; latency counts from when a request was due. */
export function pace(
  target: Target,
  options: { readonly rate: number; readonly seconds: number; readonly request: (index: number) => Sent },
): Promise<LoadResult> {
  return withConnections(target, 32, async (connections) => {
    const free = [...connections];
    const queue: ((connection: Connection) => void)[] = [];
    const take = (): Connection | Promise<Connection> => free.pop() ?? new Promise((resolve) => queue.push(resolve));
    const giveBack = (connection: Connection): void => {
      const next = queue.shift();
      if (next === undefined) free.push(connection);
      else next(connection);
    };
    const total = options.rate * options.seconds;
    const latenciesMs: number[] = [];
    const begunAt = performance.now();
    const under: Promise<void>[] = [];
    for (let index = 0; index < total; index += 1) {
      const dueAt = begunAt + (index * 1000) / options.rate;
      while (performance.now() < dueAt) await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt - performance.now())));
      const send = async (): Promise<void> => {
        const connection = await take();
        await connection.send(options.request(index));
        latenciesMs.push(performance.now() - dueAt);
        giveBack(connection);
      };
      under.push(send());
    }
    await Promise.all(under);
    return { perSecond: (total / (performance.now() - begunAt)) * 1000, latenciesMs };
  });
}
