import { createHash } from "node:crypto";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { pipeline, Readable, Transform } from "node:stream";
import { rootCertificates } from "node:tls";
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { ListMultipartUploadsCommandOutput } from "@aws-sdk/client-s3";
import type { ObjectBody, ObjectCallOptions, ObjectStore, ObjectUpload, OpenUpload, StoredObject } from "@talos-operator/ports";
import { isStoreFailure, StoreFailure } from "../../store/failure.ts";
import { demandKey, demandPrefix } from "../../store/key.ts";
import type { S3Place, StoreKeys } from "../../task/place.ts";
import { createPageGuard } from "./page-guard.ts";
import { failureOf } from "./s3-failure.ts";

/** A connection, and a pause in an answer, may take this long. Milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;
/** Times the SDK sends a request that is harmless to repeat, with growing pauses. */
const ATTEMPTS = 4;

/**
 * A bucket as a store of objects, by the SDK of AWS. Nothing is cached, and no request is sent to a host but the endpoint's.
 *
 * @param keys asked at first use, and once more when the store says that they have expired; `undefined` = what the process is: IRSA, pod identity, instance role
 * @throws StoreFailure `invalid` for a bucket or endpoint that can never be one
 */
export function createS3Store(place: S3Place, keys: () => Promise<StoreKeys | undefined>): ObjectStore {
  demandPlace(place);
  const store = openBucket(place, keys);
  return { place: store.name, ...objectsOf(store), ...uploadsOf(store), close: store.close };
}

interface OpenBucket {
  /** In words, for failures. */
  readonly name: string;
  /** Named as the SDK names it. */
  readonly Bucket: string;
  /** Sends a request; keys that have expired are read anew once. */
  readonly call: <T>(
    options: ObjectCallOptions | undefined,
    send: (client: S3Client, call: { readonly abortSignal?: AbortSignal }) => Promise<T>,
  ) => Promise<T>;
  readonly close: () => void;
}

function openBucket(place: S3Place, keys: () => Promise<StoreKeys | undefined>): OpenBucket {
  // With its path: a gateway may have several stores at one host.
  const name = `s3://${place.bucket}${place.endpoint === undefined ? "" : ` at ${new URL(place.endpoint).href.replace(/\/$/, "")}`}`;
  let client: Promise<S3Client> | undefined;
  const connect = async (): Promise<S3Client> => createClient(place, await keys());
  const call: OpenBucket["call"] = async (options, send) => {
    const given = options?.signal === undefined ? {} : { abortSignal: options.signal };
    for (let isAgain = false; ; isAgain = true) {
      client ??= connect();
      const used = client;
      try {
        return await send(await used, given);
      } catch (thrown) {
        const failure = failureOf(thrown, name);
        if (isAgain || !isStoreFailure(failure, "expired")) throw failure;
        if (client === used) client = undefined;
      }
    }
  };
  const close = (): void =>
    void client?.then(
      (open) => open.destroy(),
      () => undefined,
    );
  return { name, Bucket: place.bucket, call, close };
}

function objectsOf(store: OpenBucket): Pick<ObjectStore, "list" | "head" | "get" | "put" | "remove"> {
  const { name, Bucket, call } = store;
  return {
    async *list(prefix, options) {
      demandPrefix(prefix);
      const pages = createPageGuard(name);
      let token: string | undefined;
      do {
        const page = await call(options, async (s3, given) => {
          try {
            return await s3.send(
              new ListObjectsV2Command({
                Bucket,
                Prefix: prefix,
                ...(token === undefined ? {} : { ContinuationToken: token }),
                ...(options?.after === undefined ? {} : { StartAfter: options.after }),
              }),
              given,
            );
          } catch (thrown) {
            throw isMissingKey(thrown) ? noBucket(name) : thrown;
          }
        });
        for (const { Key, Size, ETag, LastModified } of page.Contents ?? [])
          if (Key !== undefined) yield described(Key, Size, ETag, LastModified);
        token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
        if (token !== undefined) pages.follow(token, (page.Contents ?? []).length === 0);
      } while (token !== undefined);
    },
    head: async (key, options) => {
      demandKey(key);
      return head(store, key, options);
    },
    get: async (key, options) => {
      demandKey(key);
      return call(options, async (s3, given): Promise<ObjectBody | undefined> => {
        const offset = options?.offset ?? 0;
        try {
          const found = await s3.send(
            new GetObjectCommand({ Bucket, Key: key, ...(offset === 0 ? {} : { Range: `bytes=${offset}-` }) }),
            given,
          );
          const length = found.ContentLength ?? 0;
          const body = whole((found.Body ?? []) as AsyncIterable<Uint8Array>, length, name);
          return { ...described(key, offset + length, found.ETag, found.LastModified), body };
        } catch (thrown) {
          if (isMissingKey(thrown)) return undefined;
          throw thrown;
        }
      });
    },
    put: async (key, bytes, options) => {
      demandKey(key);
      return call(options, async (s3, given) => {
        const condition = options?.ifAbsent === true ? { IfNoneMatch: "*" } : {};
        const { ETag } = await s3.send(
          new PutObjectCommand({ Bucket, Key: key, Body: bytes, ContentLength: bytes.length, ContentMD5: md5(bytes), ...condition }),
          given,
        );
        return described(key, bytes.length, ETag, undefined);
      });
    },
    remove: async (key, options) => {
      demandKey(key);
      return call(options, async (s3, given) => {
        try {
          const { DeleteMarker, VersionId } = await s3.send(new DeleteObjectCommand({ Bucket, Key: key }), given);
          return { removed: DeleteMarker === true || VersionId !== undefined ? ("marked" as const) : ("gone" as const) };
        } catch (thrown) {
          if (isMissingKey(thrown)) return { removed: "gone" as const };
          throw thrown;
        }
      });
    },
  };
}

function uploadsOf(store: OpenBucket): Pick<ObjectStore, "createUpload" | "listUploads" | "abortUpload"> {
  const { name, Bucket, call } = store;
  const listed = (prefix: string, marker: UploadMarker) => (s3: S3Client, given: { readonly abortSignal?: AbortSignal }) =>
    s3.send(new ListMultipartUploadsCommand({ Bucket, Prefix: prefix, ...marker }), given);
  return {
    createUpload: async (key, options) => {
      demandKey(key);
      const id = await call(options, (s3, given) => s3.send(new CreateMultipartUploadCommand({ Bucket, Key: key }), given));
      if (id.UploadId === undefined) throw new StoreFailure("failing", `${name}: it names no upload.`);
      const elsewhere = otherKey(name, key, id.Key);
      if (elsewhere !== undefined) {
        await abort(store, { key, id: id.UploadId }, options);
        throw elsewhere;
      }
      return uploadIn(store, key, id.UploadId);
    },
    async *listUploads(prefix, options) {
      demandPrefix(prefix);
      const pages = createPageGuard(name);
      let marker: UploadMarker | undefined = {};
      while (marker !== undefined) {
        const page: ListMultipartUploadsCommandOutput = await call(options, listed(prefix, marker));
        for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
          // Not every store filters by the prefix.
          if (Key === undefined || UploadId === undefined || !Key.startsWith(prefix)) continue;
          yield { key: Key, id: UploadId, ...(Initiated === undefined ? {} : { startedAt: Initiated.getTime() }) } satisfies OpenUpload;
        }
        marker = nextOf(page);
        if (marker !== undefined) pages.follow(JSON.stringify(marker), (page.Uploads ?? []).length === 0);
      }
    },
    abortUpload: (upload, options) => abort(store, upload, options),
  };
}

function uploadIn(store: OpenBucket, key: string, id: string): ObjectUpload {
  const { name, Bucket, call } = store;
  const parts = new Map<number, { readonly ETag: string }>();
  let size = 0;
  return {
    key,
    id,
    part: (number, bytes, options) =>
      call(options, async (s3, given) => {
        const { ETag } = await s3.send(
          new UploadPartCommand({
            Bucket,
            Key: key,
            UploadId: id,
            PartNumber: number,
            Body: bytes,
            ContentLength: bytes.length,
            ContentMD5: md5(bytes),
          }),
          given,
        );
        if (ETag === undefined) throw new StoreFailure("failing", `${name}: it names no ETag of a part.`);
        parts.set(number, { ETag });
        size += bytes.length;
      }),
    complete: (options) =>
      call(options, async (s3, given) => {
        const Parts = [...parts].toSorted(([a], [b]) => a - b).map(([PartNumber, { ETag }]) => ({ PartNumber, ETag }));
        const done = await s3.send(
          new CompleteMultipartUploadCommand({ Bucket, Key: key, UploadId: id, MultipartUpload: { Parts } }),
          given,
        );
        // An answer of status 200 may hold an error; the SDK throws for that. One that names nothing is none either.
        if (done.ETag === undefined) throw new StoreFailure("failing", `${name}: it does not say that the upload is complete.`);
        const elsewhere = otherKey(name, key, done.Key);
        if (elsewhere !== undefined) {
          await s3.send(new DeleteObjectCommand({ Bucket, Key: key }), given);
          throw elsewhere;
        }
        return (await head(store, key, options)) ?? { key, size, etag: done.ETag };
      }),
    abort: (options) => abort(store, { key, id }, options),
  };
}

function head({ Bucket, call }: OpenBucket, key: string, options?: ObjectCallOptions): Promise<StoredObject | undefined> {
  return call(options, async (s3, given) => {
    try {
      const found = await s3.send(new HeadObjectCommand({ Bucket, Key: key }), given);
      return described(key, found.ContentLength, found.ETag, found.LastModified);
    } catch (thrown) {
      if (isMissingKey(thrown)) return undefined;
      throw thrown;
    }
  });
}

function abort(
  { Bucket, call }: OpenBucket,
  { key, id }: { readonly key: string; readonly id: string },
  options?: ObjectCallOptions,
): Promise<void> {
  return call(options, async (s3, given) => {
    try {
      await s3.send(new AbortMultipartUploadCommand({ Bucket, Key: key, UploadId: id }), given);
    } catch (thrown) {
      if (!(thrown instanceof Error && thrown.name === "NoSuchUpload")) throw thrown;
    }
  });
}

/**
 * Where the store itself says that it keeps an object under another key: what a backup's status names would not be found there. Nothing is refused
 * where it does not say.
 */
function otherKey(name: string, key: string, said: string | undefined): StoreFailure | undefined {
  if (said === undefined || said === key) return undefined;
  return new StoreFailure(
    "invalid",
    `${name}: it keeps an object under another key than it was given: leave the bucket out of the endpoint.`,
  );
}

/** What a store says that was asked for an object in place of a list: with the bucket in the endpoint each request is for something below it. */
function noBucket(name: string): StoreFailure {
  return new StoreFailure("invalid", `${name}: this is the address of an object and of no bucket: leave the bucket out of the endpoint.`);
}

/** Answers that the SDK keeps whole: a page of a list has a thousand keys of a thousand letters at most. */
const MAX_ANSWER_BYTES = 8 * 2 ** 20;

/** Ends an answer that is longer than any may be: the endpoint is of the asker's choice, and may answer without end. */
function bounded(body: Readable): Readable {
  let size = 0;
  const counted = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      size += chunk.length;
      done(size > MAX_ANSWER_BYTES ? new TooLongAnswer() : null, chunk);
    },
  });
  // What goes wrong is told by the one that is read.
  pipeline(body, counted, () => undefined);
  return counted;
}

class TooLongAnswer extends Error {
  override readonly name = "TooLongAnswer";
}

function createClient(place: S3Place, keys: StoreKeys | undefined): S3Client {
  const { region, endpoint, pathStyle, caBundle, insecureSkipTLSVerify } = place;
  const tls = {
    ...(caBundle === undefined ? {} : { ca: [...rootCertificates, caBundle] }),
    ...(insecureSkipTLSVerify === true ? { rejectUnauthorized: false } : {}),
  };
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle: pathStyle ?? endpoint !== undefined,
    ...(keys === undefined
      ? {}
      : {
          credentials: {
            accessKeyId: keys.accessKeyID,
            secretAccessKey: keys.secretAccessKey,
            ...(keys.sessionToken === undefined ? {} : { sessionToken: keys.sessionToken }),
          },
        }),
    maxAttempts: ATTEMPTS,
    // Each body carries its MD5. Checksums behind the body are not known to every store, and cost a quarter of the speed.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    followRegionRedirects: false,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: IDLE_TIMEOUT_MS,
      httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets: 8, ...tls }),
      httpAgent: new HttpAgent({ keepAlive: true, maxSockets: 8 }),
    },
  });
  // Beneath whatever reads answers.
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const output = await next(args);
        const response = output.response as { statusCode?: number; body?: unknown };
        // An object's own bytes are not kept.
        const isObject = commandName === "GetObjectCommand" && (response.statusCode ?? 0) < 300;
        if (response.body instanceof Readable && !isObject) response.body = bounded(response.body);
        return output;
      },
    { step: "deserialize", priority: "low", name: "boundAnswers" },
  );
  return client;
}

interface UploadMarker {
  readonly KeyMarker?: string;
  readonly UploadIdMarker?: string;
}

function nextOf({ IsTruncated, NextKeyMarker, NextUploadIdMarker }: ListMultipartUploadsCommandOutput): UploadMarker | undefined {
  if (IsTruncated !== true || NextKeyMarker === undefined) return undefined;
  return { KeyMarker: NextKeyMarker, ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker }) };
}

/** @throws StoreFailure `invalid` */
function demandPlace({ bucket, endpoint, allowPlainText }: S3Place): void {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) || bucket.includes(".."))
    throw new StoreFailure(
      "invalid",
      `${JSON.stringify(bucket.slice(0, 80))} is no name of a bucket: 3 to 63 letters, digits, dots and dashes.`,
    );
  if (endpoint === undefined) return;
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new StoreFailure("invalid", "The endpoint is no URL: write https:// and the host.");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new StoreFailure("invalid", "The endpoint holds more than a host: leave out names, passwords and what follows ? or #.");
  if (url.protocol === "http:" && allowPlainText !== true)
    throw new StoreFailure(
      "invalid",
      "The endpoint is not encrypted: write https://, or start the operator with --allow-insecure-object-storage.",
    );
}

function described(key: string, size: number | undefined, etag: string | undefined, modified: Date | undefined): StoredObject {
  return {
    key,
    size: size ?? 0,
    ...(etag === undefined ? {} : { etag }),
    ...(modified === undefined ? {} : { modifiedAt: modified.getTime() }),
  };
}

/** The bytes as they come; an end before the last one is a failure, and so is a connection that breaks. */
async function* whole(body: AsyncIterable<Uint8Array>, length: number, name: string): AsyncGenerator<Uint8Array> {
  let read = 0;
  try {
    for await (const piece of body) {
      read += piece.length;
      yield piece;
    }
  } catch (thrown) {
    const failure = failureOf(thrown, name);
    throw isStoreFailure(failure, "failing", "unreachable") ? cutOff(name, read, length) : failure;
  }
  if (read < length) throw cutOff(name, read, length);
}

function cutOff(name: string, read: number, length: number): StoreFailure {
  return new StoreFailure("cut-off", `${name}: an object ends after ${read} bytes of ${length}.`);
}

function isMissingKey(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === "NoSuchKey" || thrown.name === "NotFound");
}

function md5(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("base64");
}
