import { readFileSync } from "node:fs";
import type { S3Place } from "@talos-operator/backup";
import { CliError, errorCode } from "../cli-error.ts";
import { booleanFlag, givenString, type FlagSpec, type FlagValues } from "../command.ts";
import { kubeconfigFlag, namespaceFlag } from "../commands/shared-flags.ts";

/** How a store is reached, of every command that reads one. Keys come from the environment or the files of AWS, never from a flag. */
export const storeFlags: readonly FlagSpec[] = [
  kubeconfigFlag,
  namespaceFlag,
  {
    name: "backup-directory",
    kind: "string",
    value: "folder",
    summary: "the operator's folder of backups, for an object whose backupStorage is a directory",
  },
  {
    name: "endpoint",
    kind: "string",
    value: "URL",
    summary: "of s3://: the store where it is not AWS; default is AWS_ENDPOINT_URL_S3, else AWS_ENDPOINT_URL",
  },
  { name: "region", kind: "string", value: "region", summary: "of s3://: default is AWS_REGION, else AWS_DEFAULT_REGION, else us-east-1" },
  { name: "path-style", kind: "boolean", summary: "of s3://: name the bucket in the path, not in the host; so it is with an endpoint" },
  { name: "ca-file", kind: "string", value: "file", summary: "of s3://: PEM of authorities that are trusted beside those of the system" },
  { name: "insecure-skip-tls-verify", kind: "boolean", summary: "of s3://: leave the endpoint's certificate unchecked" },
];

export const identityFlag: FlagSpec = {
  name: "identity",
  kind: "string",
  value: "file",
  summary: "age identity of a recipient, as age-keygen writes it; - is standard input",
};

export const maxSizeFlag: FlagSpec = {
  name: "max-size",
  kind: "string",
  value: "size",
  summary:
    "bytes that may be unpacked of a snapshot whose size no checked manifest names, such as 8Gi; default is a hundred times what is stored, at least 256Mi",
};

/** @throws CliError for an authority that cannot be read */
export function bucketOfFlags(bucket: string, flags: FlagValues, environment: NodeJS.ProcessEnv): S3Place {
  const variable = (...names: readonly string[]): string | undefined =>
    names.map((name) => environment[name]).find((value) => (value ?? "") !== "");
  const endpoint = givenString(flags, "endpoint") ?? variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
  const caFile = givenString(flags, "ca-file");
  const pathStyle = flags["path-style"];
  return {
    kind: "s3",
    bucket,
    region: givenString(flags, "region") ?? variable("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1",
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(typeof pathStyle === "boolean" ? { pathStyle } : {}),
    prefix: "",
    ...(caFile === undefined ? {} : { caBundle: authorities(caFile) }),
    ...(booleanFlag(flags, "insecure-skip-tls-verify") ? { insecureSkipTLSVerify: true } : {}),
    // Whoever writes http:// means it, and is told what follows.
    allowPlainText: true,
  };
}

function authorities(file: string): string {
  const remedy = "Give a PEM file with certificates.";
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CliError(`${file} cannot be read (${errorCode(error) ?? "unknown"})`, remedy, { cause: error });
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----")) throw new CliError(`${file} holds no certificate`, remedy);
  return text;
}
