import { createHash, createHmac } from "node:crypto";
import { request as httpRequest } from "node:http";
import type { OutgoingHttpHeaders } from "node:http";
import { parseXML } from "@aws-sdk/xml-builder";
import { SignatureV4, createScope, getSigningKey } from "@smithy/signature-v4";
import type { S3Keys } from "../../object-storage/signature.ts";
import type { S3Case, S3Chunks, S3Signing, S3Step } from "../s3-cases.ts";

/** An answer, with what differs from run to run taken out. */
export interface S3Seen {
  readonly status: number;
  /** S3's error code. */
  readonly code?: string;
  /** None of an error. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly xml?: Readonly<Record<string, string>>;
  /** Of what is no XML, the beginning. */
  readonly body?: string;
}

const HEADERS =
  /^(?:etag|content-(?:length|type|range)|accept-ranges|cache-control|x-amz-(?:checksum-.*|meta-.*|bucket-region|version-id|delete-marker))$/;
/** Elements that say what is the server's own. */
const DROPPED: ReadonlySet<string> = new Set(["Owner", "Initiator", "Location", "Bucket", "Name"]);
const REPEATED: ReadonlySet<string> = new Set(["Contents", "CommonPrefixes", "Part", "Upload", "Deleted"]);
/** Elements with other texts in each run. */
const CHANGING = /^(?:LastModified|Initiated|\w*UploadId\w*|\w*ContinuationToken)$/;

/** Sends the steps of a case one after the other, each on its own connection. */
export async function runS3Case(endpoint: string, keys: S3Keys, bucket: string, { steps }: S3Case): Promise<S3Seen[]> {
  const saved: Record<string, string> = { bucket };
  const seen: S3Seen[] = [];
  for (const step of steps) {
    const answer = await sendS3(endpoint, keys, filled(step, saved));
    for (const [name, of] of Object.entries(step.save ?? {})) {
      const found = answer.headers[of] ?? new RegExp(`<${of}>([^<]*)</${of}>`).exec(answer.body.toString())?.[1];
      if (found !== undefined) saved[name] = found.replaceAll("&quot;", '"').replaceAll("&#34;", '"');
    }
    seen.push(shown(answer));
  }
  return seen;
}

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Signs and sends one request. */
export async function sendS3(endpoint: string, keys: S3Keys, step: S3Step): Promise<RawAnswer> {
  const plain = typeof step.body === "object" ? Buffer.alloc(step.body.length, step.body.of) : Buffer.from(step.body ?? "");
  const host = new URL(endpoint).host;
  const headers: Record<string, string> = {
    host,
    ...step.headers,
    ...(step.headers?.["content-md5"] === "{md5}" ? { "content-md5": createHash("md5").update(plain).digest("base64") } : {}),
    ...(step.chunks === undefined ? {} : chunkHeaders(step.chunks, plain.length)),
  };
  const signing = {
    accessKeyID: keys.accessKeyID,
    secretAccessKey: keys.secretAccessKey,
    region: "us-east-1",
    service: "s3",
    ...step.sign,
  };
  const signed = await sign(step, headers, plain, signing);
  const body = step.chunks === undefined ? plain : await chunked(plain, step.chunks, signed.headers, signing);
  const query = new URLSearchParams({ ...signed.query, ...step.sign?.addedQuery }).toString().replaceAll("+", "%20");
  const sentHeaders: Record<string, string> = { ...signed.headers, ...step.sign?.addedHeaders, "content-length": String(body.length) };
  for (const name of step.sign?.removedHeaders ?? []) delete sentHeaders[name];
  return exchange(endpoint, step.method, `${step.path}${query === "" ? "" : `?${query}`}`, sentHeaders, body);
}

/** The target of a request that is signed by its address: who sends it needs no further header. */
export async function presignS3(endpoint: string, keys: S3Keys, step: S3Step): Promise<string> {
  const headers = { host: new URL(endpoint).host };
  const signing = { ...keys, region: "us-east-1", service: "s3", kind: "query" as const };
  const { query } = await sign(step, headers, Buffer.alloc(0), signing);
  return `${step.path}?${new URLSearchParams(query).toString().replaceAll("+", "%20")}`;
}

function exchange(endpoint: string, method: string, path: string, headers: OutgoingHttpHeaders, body: Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(endpoint);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, method, path, headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.once("error", reject);
      response.once("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
          body: Buffer.concat(pieces),
        }),
      );
    });
    request.once("error", reject);
    request.end(body);
  });
}

type Signing = S3Signing & S3Keys & { readonly region: string; readonly service: string };

async function sign(
  step: S3Step,
  headers: Record<string, string>,
  body: Buffer,
  { kind = "header", accessKeyID, secretAccessKey, sessionToken, region, service, skewSeconds = 0, expiresSeconds = 900 }: Signing,
): Promise<{ readonly headers: Record<string, string>; readonly query: Record<string, string> }> {
  const query: Record<string, string> = { ...step.query };
  if (kind === "none") return { headers, query };
  const signer = new SignatureV4({
    service,
    region,
    credentials: { accessKeyId: accessKeyID, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
    sha256: Sha256,
    uriEscapePath: false,
  });
  const signingDate = new Date(Date.now() + skewSeconds * 1000);
  // A signed address says nothing of a body.
  const all = kind === "query" ? { ...headers, "x-amz-content-sha256": "UNSIGNED-PAYLOAD" } : headers;
  const shape = { method: step.method, protocol: "http:", hostname: "", path: canonical(step.path), query, headers: all, body };
  const done =
    kind === "query" ? await signer.presign(shape, { signingDate, expiresIn: expiresSeconds }) : await signer.sign(shape, { signingDate });
  return { headers: done.headers, query: done.query as Record<string, string> };
}

/** The path that is signed: decoded and encoded again, where that can be done. */
function canonical(path: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(path))
      .replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll("%2F", "/");
  } catch {
    return path;
  }
}

function chunkHeaders({ isSigned, trailer, damage }: S3Chunks, length: number): Record<string, string> {
  return {
    "content-encoding": "aws-chunked",
    "x-amz-decoded-content-length": String(damage === "length" ? length + 1 : length),
    "x-amz-content-sha256": `STREAMING-${isSigned ? "AWS4-HMAC-SHA256-PAYLOAD" : "UNSIGNED-PAYLOAD"}${trailer === undefined ? "" : "-TRAILER"}`,
    ...(trailer === undefined ? {} : { "x-amz-trailer": trailer[0] }),
  };
}

/** The body in one chunk, with the signatures that belong to it. */
async function chunked(
  body: Buffer,
  { isSigned, trailer, damage }: S3Chunks,
  headers: Readonly<Record<string, string>>,
  { accessKeyID, secretAccessKey, region, service }: Signing,
): Promise<Buffer> {
  const longDate = headers["x-amz-date"] ?? "";
  const key = await getSigningKey(Sha256, { accessKeyId: accessKeyID, secretAccessKey }, longDate.slice(0, 8), region, service);
  const scope = createScope(longDate.slice(0, 8), region, service);
  const hmac = (...lines: readonly string[]): string => createHmac("sha256", key).update(lines.join("\n")).digest("hex");
  const hash = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
  let before = /Signature=([0-9a-f]{64})/.exec(headers["authorization"] ?? "")?.[1] ?? "";
  const line = (bytes: Buffer): string => {
    if (!isSigned) return `${bytes.length.toString(16)}\r\n`;
    before = hmac("AWS4-HMAC-SHA256-PAYLOAD", longDate, scope, before, hash(""), hash(bytes));
    return `${bytes.length.toString(16)};chunk-signature=${damage === "signature" ? "0".repeat(64) : before}\r\n`;
  };
  const pieces = [Buffer.from(line(body)), body, Buffer.from("\r\n")];
  if (damage !== "cut") {
    pieces.push(Buffer.from(line(Buffer.alloc(0))));
    if (trailer !== undefined) {
      pieces.push(Buffer.from(`${trailer[0]}:${trailer[1]}\r\n`));
      const signature = hmac("AWS4-HMAC-SHA256-TRAILER", longDate, scope, before, hash(`${trailer[0]}:${trailer[1]}\n`));
      if (isSigned) pieces.push(Buffer.from(`x-amz-trailer-signature:${damage === "trailer-signature" ? "0".repeat(64) : signature}\r\n`));
    }
    pieces.push(Buffer.from("\r\n"));
  }
  return Buffer.concat(pieces);
}

class Sha256 {
  readonly #hash: { update(data: Uint8Array | string): unknown; digest(): Buffer };

  constructor(secret?: Uint8Array | string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as Uint8Array | string);
  }

  update(data: Uint8Array | string): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new Error("a hash is used once");
  }
}

function filled(step: S3Step, saved: Readonly<Record<string, string>>): S3Step {
  const fill = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => saved[name] ?? whole);
  const each = (record: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(record ?? {}).map(([name, value]) => [name, fill(value)]));
  return {
    ...step,
    path: fill(step.path),
    query: each(step.query),
    headers: each(step.headers),
    ...(typeof step.body === "string" ? { body: fill(step.body) } : {}),
  };
}

function shown({ status, headers, body }: RawAnswer): S3Seen {
  const text = body.toString();
  const code = /^<[^]*<Code>(\w+)<\/Code>/.exec(text)?.[1];
  // An error's headers say nothing that its code does not; the rest of its body is for people.
  if (status >= 300) return { status, ...(code === undefined ? {} : { code }) };
  const isXml = text.startsWith("<");
  const kept = Object.entries(headers).filter(([name]) => HEADERS.test(name) && !(isXml && name === "content-length"));
  return {
    status,
    headers: Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    ...(isXml ? { xml: elementsOf(parseXML(text)) } : text === "" ? {} : { body: text.slice(0, 100) }),
  };
}

/** Texts by the path of their element; those that differ from run to run as one word. An empty element is as none. */
function elementsOf(parsed: unknown, path = "", found: Record<string, string> = {}): Readonly<Record<string, string>> {
  const name = path.split(".").findLast((part) => /\D/.test(part)) ?? "";
  if (DROPPED.has(name)) return found;
  if (typeof parsed === "string") {
    if (parsed !== "") found[path] = CHANGING.test(name) ? "…" : parsed;
  } else if (Array.isArray(parsed)) for (const [index, one] of parsed.entries()) elementsOf(one, `${path}.${index}`, found);
  else
    for (const [child, one] of Object.entries(parsed as Record<string, unknown>)) {
      if (child.startsWith("xmlns") || child.startsWith("xsi:")) continue;
      // One of what may be many has the path that it has among many.
      const isOne = REPEATED.has(child) && !Array.isArray(one);
      elementsOf(isOne ? [one] : one, path === "" ? child : `${path}.${child}`, found);
    }
  return found;
}
