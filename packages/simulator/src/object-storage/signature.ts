import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { createScope, getSigningKey, SignatureV4 } from "@smithy/signature-v4";
import { UNSIGNED_CHUNKS } from "./chunked-body.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Request } from "./s3-request.ts";

/** The one pair of keys that is let in. */
export interface S3Keys {
  readonly accessKeyID: string;
  readonly secretAccessKey: string;
}

/** The region that is served. */
const REGION = "us-east-1";
/** S3's limit between the clocks. */
const MAX_SKEW_MS = 15 * 60_000;
const ALGORITHM = "AWS4-HMAC-SHA256";

interface Claim {
  readonly accessKeyID: string;
  readonly shortDate: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly longDate: string;
}

/**
 * Lets a request in that who holds the keys has signed by header, in this region and at about this time.
 *
 * The canonical request and the signing key are those of AWS's own library; signatures are compared in constant time.
 *
 * @param now milliseconds since the epoch
 * @returns the SHA-256 of the body that was signed, in lower-case hexadecimal; `undefined` when the body is not signed
 * @throws S3Error
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html
 */
export async function verifySignature(request: S3Request, keys: S3Keys, now: number): Promise<string | undefined> {
  const claim = readClaim(request);
  demandScope(claim);
  demandTime(claim, now);
  const content = request.headers.get("x-amz-content-sha256");
  if (content === undefined) throw new S3Error("InvalidRequest", "Missing required header for this request: x-amz-content-sha256");
  demandHeaders(request, claim);
  if (claim.accessKeyID !== keys.accessKeyID) throw new S3Error("InvalidAccessKeyId");
  // A token belongs to keys that were lent; these are not.
  if (request.headers.has("x-amz-security-token")) throw new S3Error("InvalidToken");

  const credentials = { accessKeyId: keys.accessKeyID, secretAccessKey: keys.secretAccessKey };
  const signingKey = await getSigningKey(Sha256, credentials, claim.shortDate, REGION, "s3");
  const text = await new Canonical().stringToSign(request, claim, content);
  const [given, expected] = [Buffer.from(claim.signature), Buffer.from(createHmac("sha256", signingKey).update(text).digest("hex"))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new S3Error("SignatureDoesNotMatch");

  if (content === "UNSIGNED-PAYLOAD" || content === UNSIGNED_CHUNKS) return undefined;
  if (/^[0-9a-f]{64}$/.test(content)) return content;
  if (content.startsWith("STREAMING-")) throw new S3Error("NotImplemented", "A body in signed chunks is not provided here.");
  throw new S3Error("InvalidArgument", "x-amz-content-sha256 must be UNSIGNED-PAYLOAD or a valid sha256 value.");
}

/** The library's way from a request to what is signed; it is the same for who signs and for who checks. */
class Canonical extends SignatureV4 {
  constructor() {
    super({ service: "s3", region: "", credentials: { accessKeyId: "", secretAccessKey: "" }, sha256: Sha256, uriEscapePath: false });
  }

  stringToSign(request: S3Request, { signedHeaders, longDate, shortDate }: Claim, content: string): Promise<string> {
    const headers = Object.fromEntries(
      signedHeaders.map((name) => [name, (request.headers.get(name) ?? "").trim().replaceAll(/\s+/g, " ")]),
    );
    const query = Object.fromEntries([...request.query].map(([name, values]) => [name, [...values]]));
    const shape = { method: request.method, path: request.canonicalPath, query, headers: {}, protocol: "http:", hostname: "" };
    const canonical = this.createCanonicalRequest(shape, headers, content);
    return this.createStringToSign(longDate, createScope(shortDate, REGION, "s3"), canonical, ALGORITHM);
  }
}

/** SHA-256 and its HMAC as the library asks for them. */
class Sha256 {
  readonly #hash: { update(data: Uint8Array | string): unknown; digest(): Buffer };

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", secret as Uint8Array | string);
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

function readClaim({ headers }: S3Request): Claim {
  const header = headers.get("authorization");
  if (header === undefined) throw new S3Error("AccessDenied");
  if (!header.startsWith(`${ALGORITHM} `))
    throw new S3Error("InvalidRequest", `The authorization mechanism that you provided is not supported. Please use ${ALGORITHM}.`);
  const fields = new Map(
    header
      .slice(ALGORITHM.length)
      .split(",")
      .map((field) => [field.slice(0, field.indexOf("=")).trim(), field.slice(field.indexOf("=") + 1).trim()]),
  );
  const [credential, signedHeaders, signature] = [fields.get("Credential"), fields.get("SignedHeaders"), fields.get("Signature")];
  const [accessKeyID, shortDate, region, service, terminator] = credential?.split("/") ?? [];
  if (signedHeaders === undefined || signature === undefined || accessKeyID === undefined || shortDate === undefined)
    throw malformed("The authorization header needs Credential, SignedHeaders and Signature.");
  if (region === undefined || service === undefined || terminator !== "aws4_request")
    throw malformed("The credential must be access-key-id/date/region/s3/aws4_request.");
  const longDate = headers.get("x-amz-date");
  if (longDate === undefined || !/^\d{8}T\d{6}Z$/.test(longDate))
    throw new S3Error("AccessDenied", "AWS authentication requires a valid x-amz-date header.");
  return { accessKeyID, shortDate, region, service, signedHeaders: signedHeaders.split(";"), signature, longDate };
}

function demandScope({ service, region, shortDate, longDate }: Claim): void {
  if (service !== "s3") throw malformed('The service of the credential is wrong; it must be "s3".');
  if (region !== REGION) throw malformed(`The region of the credential is wrong; expecting '${REGION}'.`);
  if (!longDate.startsWith(shortDate)) throw malformed("The date of the credential is not that of the request.");
}

function demandTime({ longDate }: Claim, now: number): void {
  const signedAt = Date.parse(longDate.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(now - signedAt) <= MAX_SKEW_MS)) throw new S3Error("RequestTimeTooSkewed");
}

/** What S3 acts on must be signed, else who passes a signed request on could add to it. */
function demandHeaders({ headers }: S3Request, { signedHeaders }: Claim): void {
  const signed = new Set(signedHeaders);
  if (!signed.has("host") || [...headers.keys()].some((name) => name.startsWith("x-amz-") && !signed.has(name)))
    throw new S3Error("AccessDenied", "There were headers present in the request which were not signed.");
  if (signedHeaders.some((name) => !headers.has(name))) throw new S3Error("SignatureDoesNotMatch");
}

function malformed(message: string): S3Error {
  return new S3Error("AuthorizationHeaderMalformed", message);
}
