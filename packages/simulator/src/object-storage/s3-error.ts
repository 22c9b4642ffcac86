/** Codes that the endpoint answers with, their status, and S3's sentence for each. */
const ANSWERS = {
  AccessDenied: [403, "Access Denied"],
  AuthorizationHeaderMalformed: [400, "The authorization header that you provided is not valid."],
  BadDigest: [400, "The Content-MD5 that you specified did not match what the server received."],
  EntityTooLarge: [400, "Your proposed upload exceeds the maximum allowed object size."],
  EntityTooSmall: [400, "Your proposed upload is smaller than the minimum allowed object size."],
  IncompleteBody: [400, "You did not provide the number of bytes specified by the Content-Length HTTP header."],
  InternalError: [500, "We encountered an internal error. Please try again."],
  InvalidAccessKeyId: [403, "The AWS Access Key Id you provided does not exist in our records."],
  InvalidArgument: [400, "Invalid Argument"],
  InvalidDigest: [400, "The Content-MD5 that you specified is not valid."],
  InvalidPart: [
    400,
    "One or more of the specified parts could not be found. The part might not have been uploaded, or the specified entity tag might not have matched the part's entity tag.",
  ],
  InvalidPartOrder: [400, "The list of parts was not in ascending order. Parts must be ordered by part number."],
  InvalidRange: [416, "The requested range is not satisfiable"],
  InvalidRequest: [400, "Invalid Request"],
  InvalidToken: [400, "The provided token is malformed or otherwise not valid."],
  InvalidURI: [400, "The specified URI couldn't be parsed."],
  KeyTooLongError: [400, "Your key is too long."],
  MalformedTrailerError: [400, "The request contained trailing data that was not well-formed or did not conform to our published schema."],
  MalformedXML: [400, "The XML that you provided was not well formed or did not validate against our published schema."],
  MaxMessageLengthExceeded: [400, "Your request was too large."],
  MissingContentLength: [411, "You must provide the Content-Length HTTP header."],
  NoSuchBucket: [404, "The specified bucket does not exist."],
  NoSuchKey: [404, "The specified key does not exist."],
  NoSuchUpload: [
    404,
    "The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.",
  ],
  NotImplemented: [501, "A header, parameter or operation that you asked for is not provided here."],
  PreconditionFailed: [412, "At least one of the preconditions you specified did not hold."],
  RequestTimeTooSkewed: [403, "The difference between the request time and the server's time is too large."],
  SignatureDoesNotMatch: [
    403,
    "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
  ],
  XAmzContentSHA256Mismatch: [400, "The provided 'x-amz-content-sha256' header does not match what was computed."],
  // Not S3's, which never fills up: MinIO's word, which clients know.
  XMinioStorageFull: [507, "No room is left on the disk that holds the buckets. Make some and try again."],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

export type S3ErrorCode = keyof typeof ANSWERS;

/** What a request is refused with. The message goes to who asked and holds nothing secret. */
export class S3Error extends Error {
  readonly code: S3ErrorCode;
  readonly status: number;

  constructor(code: S3ErrorCode, message?: string) {
    super(message ?? ANSWERS[code][1]);
    this.name = "S3Error";
    this.code = code;
    this.status = ANSWERS[code][0];
  }
}
