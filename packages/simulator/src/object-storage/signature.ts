import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createScope, getSigningKey, SignatureV4 } from "@smithy/signature-v4";
import { S3Error } from "./s3-error.ts";
import { parameter, type S3Request } from "./s3-request.ts";

/** The one pair of keys that is let in. */
export interface S3Keys {
  readonly accessKeyID: string;
  readonly secretAccessKey: string;
}

/** What the signature says of the body. */
export type SignedBody =
  | { readonly kind: "hashed"; readonly sha256: string }
  | { readonly kind: "unsigned" }
  /** In chunks with their own lengths; each is signed when there is a `signer`. */
  | { readonly kind: "chunks"; readonly signer?: ChunkSigner; readonly hasTrailer: boolean };

/** Each chunk's signature covers the one before it, the first the request's. */
export interface ChunkSigner {
  readonly signingKey: Uint8Array;
  readonly longDate: string;
  readonly scope: string;
  readonly seed: string;
}

/** S3's limit between the clocks, and of a signed address. */
const MAX_SKEW_MS = 15 * 60_000;
const MAX_EXPIRES_SECONDS = 604_800;
const ALGORITHM = "AWS4-HMAC-SHA256";
const QUERY_NAMES = [
  "X-Amz-Algorithm",
  "X-Amz-Credential",
  "X-Amz-Date",
  "X-Amz-Expires",
  "X-Amz-SignedHeaders",
  "X-Amz-Signature",
] as const;

/** Parameters that belong to a signed address and not to an operation, in lower case. */
const SIGNATURE_PARAMETERS: ReadonlySet<string> = new Set([
  ...QUERY_NAMES.map((name) => name.toLowerCase()),
  "x-amz-content-sha256",
  "x-amz-security-token",
]);

interface Claim {
  readonly isInQuery: boolean;
  readonly accessKeyID: string;
  readonly shortDate: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly longDate: string;
}

/**
 * Lets a request in that who holds the keys has signed, by header or by query, in this region and at about this time.
 *
 * The canonical request and the signing key are those of AWS's own library; signatures are compared in constant time.
 *
 * @param now milliseconds since the epoch
 * @throws S3Error
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */
export async function verifySignature(request: S3Request, keys: S3Keys, region: string, now: number): Promise<SignedBody> {
  const claim = readClaim(request);
  demandScope(claim, region);
  demandTime(request, claim, now);
  const content = contentHash(request, claim);
  demandHeaders(request, claim);
  if (claim.accessKeyID !== keys.accessKeyID) throw new S3Error("InvalidAccessKeyId");
  // A token belongs to keys that were lent; these are not.
  if (request.headers.has("x-amz-security-token") || request.query.has("X-Amz-Security-Token")) throw new S3Error("InvalidToken");

  const signingKey = await getSigningKey(
    Sha256,
    { accessKeyId: keys.accessKeyID, secretAccessKey: keys.secretAccessKey },
    claim.shortDate,
    region,
    "s3",
  );
  const scope = createScope(claim.shortDate, region, "s3");
  const expected = hmac(signingKey, await new Canonical().stringToSign(request, claim, content, scope));
  if (!isSame(claim.signature, expected)) throw new S3Error("SignatureDoesNotMatch");
  return signedBody(content, { signingKey, longDate: claim.longDate, scope, seed: claim.signature });
}

/** A verified request as its operation reads it: what an address carries as parameters for want of headers is headers again. */
export function withoutSignature(request: S3Request): S3Request {
  const query = new Map<string, readonly string[]>();
  const headers = new Map(request.headers);
  for (const [name, values] of request.query) {
    const lower = name.toLowerCase();
    if (SIGNATURE_PARAMETERS.has(lower)) continue;
    if (!lower.startsWith("x-amz-")) query.set(name, values);
    else if (headers.has(lower) || values.length > 1) throw new S3Error("InvalidArgument", `${plain(lower)} is given more than once.`);
    else headers.set(lower, values[0] ?? "");
  }
  return { ...request, query, headers };
}

/** The signature that a chunk, or the lines behind the last one, must carry. `before` is the one before it. */
export function chunkSignature(signer: ChunkSigner, before: string, sha256: string): string {
  return hmac(signer.signingKey, [`${ALGORITHM}-PAYLOAD`, signer.longDate, signer.scope, before, sha256Of(""), sha256].join("\n"));
}

/** See {@link chunkSignature}. `lines` are `name:value` and a line end each. */
export function trailerSignature(signer: ChunkSigner, before: string, lines: string): string {
  return hmac(signer.signingKey, [`${ALGORITHM}-TRAILER`, signer.longDate, signer.scope, before, sha256Of(lines)].join("\n"));
}

/** In constant time. */
export function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The library's way from a request to what is signed; it is the same for who signs and for who checks. */
class Canonical extends SignatureV4 {
  constructor() {
    super({ service: "s3", region: "", credentials: { accessKeyId: "", secretAccessKey: "" }, sha256: Sha256, uriEscapePath: false });
  }

  stringToSign(request: S3Request, claim: Claim, content: string, scope: string): Promise<string> {
    const headers = Object.fromEntries(
      claim.signedHeaders.map((name) => [name, (request.headers.get(name) ?? "").trim().replaceAll(/\s+/g, " ")]),
    );
    const query = Object.fromEntries([...request.query].map(([name, values]) => [name, [...values]]));
    const shape = { method: request.method, path: request.canonicalPath, query, headers: {}, protocol: "http:", hostname: "" };
    return this.createStringToSign(claim.longDate, scope, this.createCanonicalRequest(shape, headers, content), ALGORITHM);
  }
}

/** SHA-256 and its HMAC as the library asks for them. */
class Sha256 {
  readonly #hash: { update(data: Uint8Array | string): unknown; digest(): Buffer };

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new Error("a hash is used once");
  }
}

function bytesOf(secret: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof secret === "string") return Buffer.from(secret);
  return ArrayBuffer.isView(secret) ? new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength) : new Uint8Array(secret);
}

function readClaim(request: S3Request): Claim {
  const header = request.headers.get("authorization");
  const isInQuery = request.query.has("X-Amz-Algorithm") || request.query.has("X-Amz-Signature");
  if (header !== undefined && isInQuery) throw new S3Error("InvalidArgument", "Only one auth mechanism allowed.");
  if (header !== undefined) return claimOfHeader(request, header);
  if (isInQuery) return claimOfQuery(request);
  // The signature before this one, which `aws s3 presign` still makes.
  if (request.query.has("AWSAccessKeyId")) demandAlgorithm("AWS");
  throw new S3Error("AccessDenied");
}

function claimOfHeader(request: S3Request, header: string): Claim {
  demandAlgorithm(header.split(/\s/)[0] ?? "");
  const fields = new Map(
    header
      .slice(ALGORITHM.length)
      .split(",")
      .map((field) => [field.slice(0, field.indexOf("=")).trim(), field.slice(field.indexOf("=") + 1).trim()]),
  );
  const [credential, signedHeaders, signature] = [fields.get("Credential"), fields.get("SignedHeaders"), fields.get("Signature")];
  if (credential === undefined || signedHeaders === undefined || signature === undefined)
    throw new S3Error("AuthorizationHeaderMalformed", "The authorization header needs Credential, SignedHeaders and Signature.");
  const longDate = longDateOf(request);
  if (longDate === undefined) throw new S3Error("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header.");
  return { isInQuery: false, ...readCredential(credential, false), signedHeaders: signedHeaders.split(";"), signature, longDate };
}

function claimOfQuery(request: S3Request): Claim {
  const [algorithm, credential, longDate, expires, signedHeaders, signature] = QUERY_NAMES.map((name) => parameter(request, name));
  if (algorithm === undefined || credential === undefined || longDate === undefined || expires === undefined)
    throw queryError("Query-string authentication version 4 requires all of its parameters.");
  if (signedHeaders === undefined || signature === undefined)
    throw queryError("Query-string authentication version 4 requires all of its parameters.");
  demandAlgorithm(algorithm);
  if (!isLongDate(longDate)) throw queryError("X-Amz-Date must be in the ISO8601 Long Format yyyyMMdd'T'HHmmss'Z'.");
  if (!/^\d{1,9}$/.test(expires) || Number(expires) > MAX_EXPIRES_SECONDS)
    throw queryError("X-Amz-Expires must be a number of seconds up to a week (604800).");
  return { isInQuery: true, ...readCredential(credential, true), signedHeaders: signedHeaders.split(";"), signature, longDate };
}

function demandAlgorithm(word: string): void {
  if (word === ALGORITHM) return;
  if (word.startsWith("AWS4-")) throw new S3Error("NotImplemented", `The signature ${word.slice(0, 40)} is not provided here.`);
  throw new S3Error("InvalidRequest", `The authorization mechanism that you provided is not supported. Please use ${ALGORITHM}.`);
}

function readCredential(
  credential: string,
  isInQuery: boolean,
): { readonly accessKeyID: string; readonly shortDate: string; readonly region: string; readonly service: string } {
  const parts = credential.split("/");
  const [terminator, service, region, shortDate] = parts.toReversed();
  const accessKeyID = parts.slice(0, -4).join("/");
  if (service === undefined || region === undefined || shortDate === undefined || accessKeyID === "" || terminator !== "aws4_request")
    throw malformed(isInQuery, "The credential must be access-key-id/date/region/s3/aws4_request.");
  return { accessKeyID, shortDate, region, service };
}

function demandScope({ isInQuery, service, region, shortDate, longDate }: Claim, ours: string): void {
  if (service !== "s3") throw malformed(isInQuery, 'The service of the credential is wrong; it must be "s3".');
  if (region !== ours) throw malformed(isInQuery, `The region '${plain(region)}' is wrong; expecting '${ours}'.`, { Region: ours });
  if (!longDate.startsWith(shortDate)) throw malformed(isInQuery, "The date of the credential is not that of the request.");
}

function demandTime(request: S3Request, { isInQuery, longDate }: Claim, now: number): void {
  const signedAt = Date.parse(longDate.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (isInQuery) {
    if (signedAt - now > MAX_SKEW_MS) throw new S3Error("AccessDenied", "Request is not valid yet.");
    if (now > signedAt + Number(parameter(request, "X-Amz-Expires")) * 1000) throw new S3Error("AccessDenied", "Request has expired.");
  } else if (!(Math.abs(now - signedAt) <= MAX_SKEW_MS))
    throw new S3Error("RequestTimeTooSkewed", undefined, {
      RequestTime: longDate,
      ServerTime: new Date(now).toISOString(),
      MaxAllowedSkewMilliseconds: String(MAX_SKEW_MS),
    });
}

/** What S3 acts on must be signed, else who passes a signed request on could add to it. */
function demandHeaders({ headers }: S3Request, { signedHeaders }: Claim): void {
  const signed = new Set(signedHeaders);
  const unsigned = [...headers.keys()].filter((name) => (name === "host" || name.startsWith("x-amz-")) && !signed.has(name));
  if (unsigned.length > 0 || !signed.has("host"))
    throw new S3Error("AccessDenied", "There were headers present in the request which were not signed.", {
      HeadersNotSigned: unsigned.map(plain).join(", "),
    });
  if (signedHeaders.some((name) => !headers.has(name))) throw new S3Error("SignatureDoesNotMatch");
}

function contentHash({ headers, query }: S3Request, { isInQuery }: Claim): string {
  const given = headers.get("x-amz-content-sha256") ?? [...query].find(([name]) => name.toLowerCase() === "x-amz-content-sha256")?.[1][0];
  if (given !== undefined) return given;
  if (isInQuery) return "UNSIGNED-PAYLOAD";
  throw new S3Error("InvalidRequest", "Missing required header for this request: x-amz-content-sha256");
}

function signedBody(content: string, signer: ChunkSigner): SignedBody {
  switch (content) {
    case "UNSIGNED-PAYLOAD":
      return { kind: "unsigned" };
    case "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
      return { kind: "chunks", hasTrailer: true };
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
      return { kind: "chunks", signer, hasTrailer: false };
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
      return { kind: "chunks", signer, hasTrailer: true };
    default:
      if (/^[0-9a-f]{64}$/.test(content)) return { kind: "hashed", sha256: content };
      if (content.startsWith("STREAMING-")) throw new S3Error("NotImplemented", `${plain(content)} is not provided here.`);
      throw new S3Error("InvalidArgument", "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a STREAMING- value, or a valid sha256 value.");
  }
}

function longDateOf({ headers }: S3Request): string | undefined {
  const own = headers.get("x-amz-date");
  if (own !== undefined) return isLongDate(own) ? own : undefined;
  const time = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
}

function isLongDate(text: string): boolean {
  return /^\d{8}T\d{6}Z$/.test(text);
}

function malformed(isInQuery: boolean, message: string, details: Readonly<Record<string, string>> = {}): S3Error {
  return new S3Error(isInQuery ? "AuthorizationQueryParametersError" : "AuthorizationHeaderMalformed", message, details);
}

function queryError(message: string): S3Error {
  return new S3Error("AuthorizationQueryParametersError", message);
}

/** What came from outside, short and in letters that XML and people can read. */
function plain(word: string): string {
  return word.slice(0, 60).replaceAll(/[^\x20-\x7e]/g, "?");
}

function hmac(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
