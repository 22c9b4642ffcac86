import { SimulatorError } from "../datacenter/errors.ts";
import type { S3Keys } from "./signature.ts";

/**
 * Demands what can be served at all.
 *
 * @throws SimulatorError `BAD_OBJECT_STORAGE`
 */
export function demandEndpoint({
  host,
  buckets,
  accessKeyID,
  secretAccessKey,
}: S3Keys & { readonly host: string; readonly buckets: readonly string[] }): void {
  if (!/^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host) && host !== "::1")
    throw bad("the S3 endpoint listens on loopback alone, as it is not encrypted; name an address such as 127.0.0.1");
  if (buckets.length === 0) throw bad("the S3 endpoint has no bucket; name one");
  const wrong = buckets.find((name) => !isBucketName(name));
  if (wrong !== undefined)
    throw bad(`${JSON.stringify(wrong.slice(0, 80))} is no name of a bucket; write 3 to 63 small letters, digits, dots and dashes`);
  if (!/^[\x21-\x2b\x2d\x2e\x30-\x3c\x3e-\x7e]{3,128}$/.test(accessKeyID))
    throw bad("the access key of the S3 endpoint is none; write 3 to 128 visible letters without / , and =");
  if (secretAccessKey.length < 8) throw bad("the secret key of the S3 endpoint is too short; write 8 letters or more");
}

/** S3's rule, without what it says of names that look like addresses. */
export function isBucketName(name: string): boolean {
  return /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name) && !name.includes("..");
}

function bad(message: string): SimulatorError {
  return new SimulatorError("BAD_OBJECT_STORAGE", message);
}
