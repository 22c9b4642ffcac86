import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock } from "@talos-operator/ports";
import { SimulatorError } from "../../datacenter/errors.ts";
import { errorAnswer, type S3Answer } from "../../object-storage/answer.ts";
import { demandEndpoint, isBucketName } from "../../object-storage/endpoint-options.ts";
import { operationOf } from "../../object-storage/operations.ts";
import { S3Error } from "../../object-storage/s3-error.ts";
import { readS3Request, type S3Request } from "../../object-storage/s3-request.ts";
import { verifySignature, withoutSignature, type S3Keys } from "../../object-storage/signature.ts";
import { BucketFolder } from "./bucket-folder.ts";
import { handlers } from "./handlers.ts";
import { bodyOf, discardRest } from "./request-body.ts";

/** What an S3 endpoint serves, and to whom. */
export interface S3EndpointOptions extends S3Keys {
  /** Names of the buckets, at least one. They are made when they are not there; further ones in the folder are kept and not served. */
  readonly buckets: readonly string[];
  /** Where objects are kept over restarts; made when it is not there, and nobody else's meanwhile. Default: a temporary one that goes with the endpoint. */
  readonly folder?: string;
  /** An address of loopback. Default 127.0.0.1. */
  readonly host?: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Default us-east-1; requests that are signed for another one are refused. */
  readonly region?: string;
  /** Ends the endpoint as `close` does. */
  readonly signal?: AbortSignal;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** A connection on which nothing moves for so long ends. Milliseconds, default 60,000. */
  readonly idleMs?: number;
  /** A request failed by our fault and was answered with 500; the error is the system's. Default: nobody is told. */
  readonly onError?: (error: unknown) => void;
}

/** An S3 endpoint that listens. */
export interface ServedS3 {
  /** `http://127.0.0.1:9333` */
  readonly endpoint: string;
  readonly port: number;
  /** Stops listening, cuts what is under way and, where the folder was temporary, removes it. May be called again. */
  close(): Promise<void>;
}

/** More than any client of one person opens. */
const MOST_CONNECTIONS = 256;
const IDLE_MS = 60_000;
const HEADERS_MS = 20_000;
const KEEP_ALIVE_MS = 10_000;

/**
 * Serves buckets on loopback as S3 does, over plain HTTP by path, to who holds the one pair of keys. What it does not do is answered `NotImplemented`.
 *
 * @returns once it listens
 * @throws SimulatorError `CANNOT_LISTEN` (its `cause.code` is the system's, for example `EADDRINUSE`), `BAD_OBJECT_STORAGE`; the signal's reason when it is
 * aborted already
 */
export async function serveS3(options: S3EndpointOptions): Promise<ServedS3> {
  options.signal?.throwIfAborted();
  const { host = "127.0.0.1", signal } = options;
  demandEndpoint({ ...options, host });
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
    await listen(endpoint.server, options.port, host);
  } catch (cause) {
    folder.close();
    removeTemporary();
    throw new SimulatorError(
      "CANNOT_LISTEN",
      `the S3 endpoint cannot listen on ${host}:${options.port} (${(cause as Error).message}); free the port, or name another one`,
      { cause },
    );
  }
  const { port } = endpoint.server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    signal?.removeEventListener("abort", onAbort);
    closing ??= endpoint.close().finally(() => {
      folder.close();
      removeTemporary();
    });
    return closing;
  };
  const onAbort = (): void => void close().catch((error: unknown) => options.onError?.(error));
  signal?.addEventListener("abort", onAbort, { once: true });
  // The signal may have been aborted while the port was opened.
  if (signal?.aborted === true) {
    await close();
    signal.throwIfAborted();
  }
  return { endpoint: `http://${host.includes(":") ? `[${host}]` : host}:${port}`, port, close };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, exclusive: true }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

class Endpoint {
  readonly server: Server;
  readonly #folder: BucketFolder;
  readonly #options: S3EndpointOptions;
  readonly #clock: Clock;
  readonly #region: string;
  readonly #buckets: ReadonlyMap<string, { readonly createdAt: number }>;
  readonly #underWay = new Set<Promise<void>>();

  constructor(folder: BucketFolder, options: S3EndpointOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#clock = options.clock ?? { now: () => Date.now() };
    this.#region = options.region ?? "us-east-1";
    this.#buckets = new Map(options.buckets.map((name) => [name, { createdAt: folder.makeBucket(name, this.#clock.now()) }]));
    // A long upload is no fault, a silent one is: `timeout` counts from the last byte.
    this.server = createServer({ requestTimeout: 0, headersTimeout: HEADERS_MS, keepAliveTimeout: KEEP_ALIVE_MS });
    this.server.maxConnections = MOST_CONNECTIONS;
    this.server.timeout = options.idleMs ?? IDLE_MS;
    this.server.on("request", (request: IncomingMessage, response: ServerResponse) => this.#begin(request, response, false));
    this.server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => this.#begin(request, response, true));
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
    await Promise.allSettled(this.#underWay);
  }

  #begin(request: IncomingMessage, response: ServerResponse, isWaiting: boolean): void {
    const work = this.#serve(request, response, isWaiting).catch((error: unknown) => {
      response.destroy();
      this.#options.onError?.(error);
    });
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  async #serve(request: IncomingMessage, response: ServerResponse, isWaiting: boolean): Promise<void> {
    const requestId = randomBytes(8).toString("hex").toUpperCase();
    // A connection on which bytes stand still has nobody at its end; on one that is still without them our own disk is late.
    response.on("timeout", () => {
      if (response.headersSent && response.writableLength > 0) response.destroy();
    });
    let read: S3Request | undefined;
    let answer: S3Answer;
    try {
      read = readS3Request(request.method ?? "", request.url ?? "", request.rawHeaders);
      answer = await this.#answer(read, bodyOf(request, response, isWaiting));
    } catch (thrown) {
      // Whoever asked is gone: there is nobody to answer.
      if (request.socket.destroyed) return;
      const error = asS3Error(thrown);
      if (error.code === "InternalError") this.#options.onError?.(thrown);
      answer = errorAnswer(error, read ?? { method: request.method ?? "", bucket: "", key: "" }, requestId);
    }
    try {
      await send(response, answer, requestId);
    } finally {
      answer.release?.();
    }
    discardRest(request);
  }

  async #answer(sent: S3Request, body: AsyncIterable<Uint8Array>): Promise<S3Answer> {
    const signed = await verifySignature(sent, this.#options, this.#region, this.#clock.now());
    const request = withoutSignature(sent);
    const operation = operationOf(request);
    if (request.bucket !== "" && !isBucketName(request.bucket))
      throw new S3Error("InvalidBucketName", undefined, { BucketName: request.bucket });
    if (request.bucket !== "" && operation !== "CreateBucket" && !this.#buckets.has(request.bucket))
      throw new S3Error("NoSuchBucket", undefined, { BucketName: request.bucket });
    return handlers[operation]({
      request,
      signed,
      folder: this.#folder,
      buckets: this.#buckets,
      region: this.#region,
      clock: this.#clock,
      body,
    });
  }
}

async function send(response: ServerResponse, { status, headers, body }: S3Answer, requestId: string): Promise<void> {
  response.writeHead(status, {
    ...inBytes(headers),
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

/** Headers go out a byte for a letter. */
function inBytes(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString("latin1")]));
}

/** SQLite's code of a disk without room. */
const SQLITE_FULL = 13;

function asS3Error(thrown: unknown): S3Error {
  if (thrown instanceof S3Error) return thrown;
  const { code, errcode } = thrown as { readonly code?: unknown; readonly errcode?: unknown };
  return new S3Error(code === "ENOSPC" || code === "EDQUOT" || errcode === SQLITE_FULL ? "XMinioStorageFull" : "InternalError");
}
