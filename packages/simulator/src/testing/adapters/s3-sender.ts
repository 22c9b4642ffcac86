import { createHash, createHmac } from "node:crypto";
import { request as httpRequest } from "node:http";
import type { OutgoingHttpHeaders } from "node:http";
import { parseXML } from "@aws-sdk/xml-builder";
import { SignatureV4 } from "@smithy/signature-v4";
import type { S3Keys } from "../../object-storage/signature.ts";
import type { S3Case, S3Step } from "../s3-cases.ts";

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

/** Headers that are compared. */
const HEADERS = /^(?:etag|content-(?:length|type|range)|accept-ranges|x-amz-(?:version-id|delete-marker))$/;
/** Elements that say what is the server's own, and those that no client needs of this endpoint. */
const DROPPED = /^(?:Owner|Initiator|Location|Bucket|Name|Checksum\w*|Max(?:Parts|Uploads)|(?:Next)?(?:PartNumber|Key|UploadId)Marker)$/;
const REPEATED: ReadonlySet<string> = new Set(["Contents", "Part", "Upload"]);
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
  const body = typeof step.body === "object" ? Buffer.alloc(step.body.length, step.body.of) : Buffer.from(step.body ?? "");
  const md5 = step.headers?.["content-md5"] === "{md5}" ? { "content-md5": createHash("md5").update(body).digest("base64") } : {};
  const signed = await signS3(endpoint, keys, { ...step, headers: { ...step.headers, ...md5 } }, body);
  const query = new URLSearchParams({ ...step.query, ...step.sign?.addedQuery }).toString().replaceAll("+", "%20");
  const headers: Record<string, string> = { ...signed, ...step.sign?.addedHeaders, "content-length": String(body.length) };
  for (const name of step.sign?.removedHeaders ?? []) delete headers[name];
  return exchange(endpoint, step.method, `${step.path}${query === "" ? "" : `?${query}`}`, headers, body);
}

/** The headers of a request, with those of its signature. */
export async function signS3(endpoint: string, keys: S3Keys, step: S3Step, body: Buffer): Promise<Record<string, string>> {
  const headers = { host: new URL(endpoint).host, ...step.headers };
  const { accessKeyID, secretAccessKey, region = "us-east-1", service = "s3", skewSeconds = 0 } = { ...keys, ...step.sign };
  if (step.sign?.isAbsent === true) return headers;
  const signer = new SignatureV4({
    service,
    region,
    credentials: { accessKeyId: accessKeyID, secretAccessKey },
    sha256: Sha256,
    uriEscapePath: false,
  });
  const signingDate = new Date(Date.now() + skewSeconds * 1000);
  const shape = {
    method: step.method,
    protocol: "http:",
    hostname: "",
    path: canonical(step.path),
    query: { ...step.query },
    headers,
    body,
  };
  return (await signer.sign(shape, { signingDate })).headers;
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
  if (DROPPED.test(name)) return found;
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
