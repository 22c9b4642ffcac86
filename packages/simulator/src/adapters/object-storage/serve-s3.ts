import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { SimulatorError } from "../../datacenter/errors.ts";
import { errorAnswer, type S3Answer } from "../../object-storage/answer.ts";
import { S3Error } from "../../object-storage/s3-error.ts";
import { readS3Request } from "../../object-storage/s3-request.ts";
import { verifySignature, type S3Keys } from "../../object-storage/signature.ts";
import { BucketFolder } from "./bucket-folder.ts";
import { operationOf } from "./operations.ts";

/** What an S3 endpoint serves, and to whom. */
export interface S3EndpointOptions extends S3Keys {
  /** Names of the buckets that are served. Others in the folder are kept. */
  readonly buckets: readonly string[];
  /** Where objects are kept over restarts; made when it is not there, and nobody else's meanwhile. Default: a temporary one that goes with the endpoint. */
  readonly folder?: string;
  /** Of 127.0.0.1. 0 lets the system choose. */
  readonly port: number;
  /** A request failed by our fault and was answered with 500; the error is the system's. */
  readonly onError: (error: unknown) => void;
}

/** An S3 endpoint that listens. */
export interface ServedS3 {
  /** `http://127.0.0.1:9333` */
  readonly endpoint: string;
  readonly port: number;
  /** Stops listening, cuts what is under way and, where the folder was temporary, removes it. May be called again. */
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** More than any client of one person opens. */
const MOST_CONNECTIONS = 256;
/** A connection on which nothing moves for so long ends. */
const IDLE_MS = 60_000;
const HEADERS_MS = 20_000;
const KEEP_ALIVE_MS = 10_000;

/**
 * Serves buckets on loopback as S3 does, over plain HTTP by path, to who holds the one pair of keys. What it does not do is answered `NotImplemented`.
 *
 * @returns once it listens
 * @throws SimulatorError `CANNOT_LISTEN` (its `cause.code` is the system's, for example `EADDRINUSE`), `BAD_OBJECT_STORAGE`
 */
export async function serveS3(options: S3EndpointOptions): Promise<ServedS3> {
  const temporary = options.folder === undefined ? mkdtempSync(join(tmpdir(), "talos-operator-s3-served-")) : undefined;
  const removeTemporary = (): void => {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  };
  let folder: BucketFolder;
  try {
    folder = new BucketFolder(options.folder ?? temporary ?? "");
  } catch (cause) {
    removeTemporary();
    throw new SimulatorError(
      "BAD_OBJECT_STORAGE",
      `the folder of the S3 endpoint cannot be used (${(cause as Error).message}); free it, or name another one`,
      { cause },
    );
  }
  const endpoint = new Endpoint(folder, options);
  try {
    await listen(endpoint.server, options.port);
  } catch (cause) {
    folder.close();
    removeTemporary();
    throw new SimulatorError(
      "CANNOT_LISTEN",
      `the S3 endpoint cannot listen on ${HOST}:${options.port} (${(cause as Error).message}); free the port, or name another one`,
      { cause },
    );
  }
  const { port } = endpoint.server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    endpoint: `http://${HOST}:${port}`,
    port,
    close: () =>
      (closing ??= endpoint.close().finally(() => {
        folder.close();
        removeTemporary();
      })),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: HOST, exclusive: true }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

class Endpoint {
  readonly server: Server;
  readonly #folder: BucketFolder;
  readonly #options: S3EndpointOptions;
  readonly #underWay = new Set<Promise<void>>();

  constructor(folder: BucketFolder, options: S3EndpointOptions) {
    this.#folder = folder;
    this.#options = options;
    // A long upload is no fault, a silent one is: `timeout` counts from the last byte.
    this.server = createServer({ requestTimeout: 0, headersTimeout: HEADERS_MS, keepAliveTimeout: KEEP_ALIVE_MS });
    this.server.maxConnections = MOST_CONNECTIONS;
    this.server.timeout = IDLE_MS;
    this.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const work = this.#serve(request, response).catch((error: unknown) => {
        response.destroy();
        options.onError(error);
      });
      this.#underWay.add(work);
      void work.finally(() => this.#underWay.delete(work));
    });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
    await Promise.allSettled(this.#underWay);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomBytes(8).toString("hex").toUpperCase();
    let answer: S3Answer;
    try {
      answer = await this.#answer(request);
    } catch (thrown) {
      // Whoever asked is gone: there is nobody to answer.
      if (request.socket.destroyed) return;
      const error = asS3Error(thrown);
      if (error.code === "InternalError") this.#options.onError(thrown);
      answer = errorAnswer(error, request.method ?? "", requestId);
    }
    try {
      await send(response, answer, requestId);
    } finally {
      answer.release?.();
    }
    // The rest of a body that was refused: a connection that is cut instead may take the answer with it.
    request.resume();
  }

  async #answer(sent: IncomingMessage): Promise<S3Answer> {
    const request = readS3Request(sent.method ?? "", sent.url ?? "", sent.rawHeaders);
    const sha256 = await verifySignature(request, this.#options, Date.now());
    const serve = operationOf(request);
    if (!this.#options.buckets.includes(request.bucket)) throw new S3Error("NoSuchBucket");
    const body = sent.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    return serve({ request, sha256, folder: this.#folder, body });
  }
}

async function send(response: ServerResponse, { status, headers, body }: S3Answer, requestId: string): Promise<void> {
  response.writeHead(status, {
    ...headers,
    ...(typeof body === "string" ? { "content-length": Buffer.byteLength(body) } : {}),
    "x-amz-request-id": requestId,
  });
  if (body === undefined || typeof body === "string") {
    await new Promise<void>((resolve) => {
      response.once("close", resolve);
      response.end(body, resolve);
    });
    return;
  }
  await pipeline(Readable.from(body, { objectMode: false }), response).catch((error: unknown) => {
    // A reader that leaves in the middle is nobody's fault.
    if ((error as { readonly code?: unknown }).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  });
}

/** SQLite's code of a disk without room. */
const SQLITE_FULL = 13;

function asS3Error(thrown: unknown): S3Error {
  if (thrown instanceof S3Error) return thrown;
  const { code, errcode } = thrown as { readonly code?: unknown; readonly errcode?: unknown };
  return new S3Error(code === "ENOSPC" || code === "EDQUOT" || errcode === SQLITE_FULL ? "XMinioStorageFull" : "InternalError");
}
