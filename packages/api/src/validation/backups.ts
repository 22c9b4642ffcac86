import type { BackupStorage, DirectoryStorage, S3Storage } from "../kinds/backup-storage.ts";
import type { SecretKeySelector } from "../kinds/fields.ts";
import type { TalosEtcdBackupSpec } from "../kinds/talos-etcd-backup.ts";
import type { TalosEtcdBackupScheduleSpec } from "../kinds/talos-etcd-backup-schedule.ts";
import type { EtcdBackupSpec } from "../vitistack/etcd-backup.ts";
import { isAgeRecipient } from "./age-recipient.ts";
import { boundFindings } from "./backup-bounds.ts";
import type { BackupBounds } from "./backup-bounds.ts";
import { byteSize } from "./byte-size.ts";
import { durationMs } from "./duration.ts";
import type { Finding } from "./finding.ts";
import { deniedHost, parseHost, quote } from "./host.ts";
import type { HostOptions } from "./host.ts";

/** What the operator was started with. */
export interface BackupOptions extends HostOptions, BackupBounds {
  /** `--allow-insecure-object-storage`: http, and certificates that nobody checks. Default: false. */
  readonly allowInsecureObjectStorage?: boolean;
  /** Hosts with port for which that holds although the flag is not given: the demo's own endpoint. */
  readonly insecureHosts?: readonly string[];
  /** The operator has a `--backup-directory`. Default: false. */
  readonly hasDirectory?: boolean;
  /** The operator can start workers. Default: true. */
  readonly hasWorkers?: boolean;
  /** Of the object, for bounds that name namespaces. Default: none of them. */
  readonly namespace?: string;
}

/** Longest prefix of keys: an S3 key has 1,024 bytes, and namespace, name, slot and attempt follow. */
const LONGEST_PREFIX = 300;
/** Of a folder, as file systems take it. */
const LONGEST_NAME = 255;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/**
 * What is wrong with the spec of a TalosEtcdBackup beyond what its schema checks. Messages quote nothing that may be a secret: of keys, recipients and
 * certificates they name the place.
 */
export function validateBackupSpec(spec: TalosEtcdBackupSpec, options: BackupOptions = {}, field = "spec"): readonly Finding[] {
  const { talosControlPlaneRef, clusterRef, backupStorage, encryption, retention, drill, timeout, maxSize } = spec;
  const reference = clusterRef ?? talosControlPlaneRef;
  return [
    ...(options.hasWorkers === false
      ? [
          refused(
            field,
            "the operator has nothing that backups could be taken with",
            "Start it with BACKUP_JOB (docs/reference/environment.md)",
          ),
        ]
      : []),
    ...(reference?.name === undefined || reference.name === ""
      ? [
          refused(
            `${field}.${clusterRef === undefined ? "talosControlPlaneRef" : "clusterRef"}.name`,
            "it names nothing",
            "Name the cluster's TalosControlPlane",
          ),
        ]
      : []),
    ...validateBackupStorage(backupStorage, options, `${field}.backupStorage`),
    ...recipientFindings(encryption?.recipients ?? [], `${field}.encryption.recipients`),
    ...durationFindings(retention?.keepFor, `${field}.retention.keepFor`, MINUTE),
    ...durationFindings(timeout, `${field}.timeout`, MINUTE, DAY),
    ...selectorFindings(drill?.identitySecretRef, `${field}.drill.identitySecretRef`),
    ...(maxSize === undefined || byteSize(maxSize) !== undefined
      ? []
      : [refused(`${field}.maxSize`, `${quote(String(maxSize))} is no size`, "Write it as 8Gi")]),
  ];
}

/** What is wrong with the spec of a TalosEtcdBackupSchedule beyond its schema, but for the schedule and its time zone. */
export function validateBackupScheduleSpec(spec: TalosEtcdBackupScheduleSpec, options: BackupOptions = {}): readonly Finding[] {
  const interval = spec.drill?.interval;
  const never = interval !== undefined && durationMs(interval) === 0;
  return [
    ...validateBackupSpec(spec.backupTemplate.spec, options, "spec.backupTemplate.spec"),
    ...durationFindings(spec.keepFor, "spec.keepFor", MINUTE),
    ...durationFindings(spec.startingDeadline, "spec.startingDeadline", MINUTE),
    ...(never ? [] : durationFindings(interval, "spec.drill.interval", 10 * MINUTE)),
    ...selectorFindings(spec.drill?.identitySecretRef, "spec.drill.identitySecretRef"),
    ...ownMarks(spec.backupTemplate.metadata?.labels, "spec.backupTemplate.metadata.labels"),
    ...ownMarks(spec.backupTemplate.metadata?.annotations, "spec.backupTemplate.metadata.annotations"),
  ];
}

/** What is wrong with the spec of an EtcdBackup beyond its schema, but for its schedule and what its Secret holds. */
export function validateEtcdBackupSpec(spec: EtcdBackupSpec, options: BackupOptions = {}): readonly Finding[] {
  const { clusterName, retention, storageLocation } = spec;
  const { type, bucket, path, secretRef } = storageLocation;
  const at = "spec.storageLocation";
  return [
    ...(clusterName === "" ? [refused("spec.clusterName", "it names nothing", "Name the KubernetesCluster")] : []),
    ...(retention !== undefined && retention < 1 ? [refused("spec.retention", `${retention} keeps no backup`, "Keep at least one")] : []),
    ...(type === "gcs" || type === "azure"
      ? [
          {
            field: `${at}.type`,
            message: `${type} is not supported`,
            remedy: "Use s3: most stores have an endpoint that speaks it",
            reason: "FieldNotSupported" as const,
          },
        ]
      : []),
    ...(type === "s3" && bucket === undefined ? [refused(`${at}.bucket`, "s3 needs a bucket", "Name it")] : []),
    ...(type === "s3" && bucket !== undefined ? bucketFindings(bucket, `${at}.bucket`) : []),
    ...(type === "s3" ? prefixFindings(path, `${at}.path`) : []),
    ...(type === "local" && bucket !== undefined && bucket !== ""
      ? [refused(`${at}.bucket`, "local has no bucket", "Leave it out, or use s3")]
      : []),
    ...(type === "local" ? directoryFindings({ ...(path !== undefined && { path }) }, options, at) : []),
    ...(secretRef === "" ? [refused(`${at}.secretRef`, "it names nothing", "Name the Secret, or leave the field out")] : []),
  ];
}

/** What is wrong with a store. Also for what the Secret of an EtcdBackup makes of its bucket. */
export function validateBackupStorage(
  storage: BackupStorage,
  options: BackupOptions = {},
  field = "spec.backupStorage",
): readonly Finding[] {
  const { s3, directory } = storage;
  if ((s3 === undefined) === (directory === undefined))
    return [refused(field, "it does not name exactly one store", "Give s3 or directory")];
  return s3 === undefined ? directoryFindings(directory ?? {}, options, `${field}.directory`) : s3Findings(s3, options, `${field}.s3`);
}

function s3Findings(s3: S3Storage, options: BackupOptions, field: string): readonly Finding[] {
  const { bucket, region, endpoint, prefix, caBundle, insecureSkipTLSVerify } = s3;
  const host = endpoint === undefined ? undefined : hostOf(endpoint);
  const mayBeInsecure =
    options.allowInsecureObjectStorage === true || (host !== undefined && options.insecureHosts?.includes(host) === true);
  return [
    ...bucketFindings(bucket, `${field}.bucket`),
    ...(/^[A-Za-z0-9_-]{1,64}$/.test(region)
      ? []
      : [refused(`${field}.region`, `${quote(region)} is no region`, "Write the store's region; one that knows none takes us-east-1")]),
    ...(endpoint === undefined ? [] : endpointFindings(endpoint, bucket, { ...options, mayBeInsecure }, `${field}.endpoint`)),
    ...boundFindings(s3, options, options.namespace, field),
    ...(insecureSkipTLSVerify === true && !mayBeInsecure
      ? [
          insecure(
            `${field}.insecureSkipTLSVerify`,
            "the endpoint's certificate would not be checked",
            "Give the store's authority as caBundle, or start the operator with --allow-insecure-object-storage",
          ),
        ]
      : []),
    ...prefixFindings(prefix, `${field}.prefix`),
    ...(caBundle === undefined ? [] : bundleFindings(caBundle, `${field}.caBundle`)),
    ...(["accessKeyID", "secretAccessKey", "sessionToken"] as const).flatMap((name) => selectorFindings(s3[name], `${field}.${name}`)),
    ...((s3.accessKeyID === undefined) === (s3.secretAccessKey === undefined)
      ? []
      : [refused(field, "one of accessKeyID and secretAccessKey is missing", "Give both, or neither for workload identity")]),
  ];
}

function bucketFindings(bucket: string, field: string): readonly Finding[] {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket) && !bucket.includes("..")
    ? []
    : [refused(field, `${quote(bucket)} is no name of a bucket`, "Write 3 to 63 letters, digits, dots and dashes")];
}

function endpointFindings(
  endpoint: string,
  bucket: string,
  { mayBeInsecure, ...options }: BackupOptions & { readonly mayBeInsecure: boolean },
  field: string,
): readonly Finding[] {
  const remedy = "Write it as https://s3.example.org";
  // What stands before an @ may be a password: nothing of such an endpoint is quoted.
  if (endpoint.includes("@")) return [refused(field, "it carries a user or password", `${remedy}; credentials belong in a Secret`)];
  const url = URL.parse(endpoint);
  if (url === null || url.host === "" || /\s/.test(endpoint)) return [refused(field, `${quote(endpoint)} is no URL`, remedy)];
  if (url.protocol !== "https:" && url.protocol !== "http:") return [refused(field, `${quote(url.protocol)} is no https`, remedy)];
  if (url.search !== "" || url.hash !== "") return [refused(field, "a query or fragment follows the host", remedy)];
  const host = parseHost(url.hostname.replace(/^\[(.*)\]$/, "$1"));
  if (!("kind" in host)) return [refused(field, host.message, remedy)];
  const denied = deniedHost(host, options);
  if (denied !== undefined) return [refused(field, denied.message, remedy)];
  const twice = bucketInEndpoint(url, bucket);
  if (twice !== undefined) return [twice(field)];
  return url.protocol === "https:" || mayBeInsecure
    ? []
    : [
        insecure(
          field,
          "http: anyone on the network path can read the backup",
          "Use https, or start the operator with --allow-insecure-object-storage",
        ),
      ];
}

/** As the consoles of stores show it. With it every key is written below the bucket's name, and found nowhere else. */
function bucketInEndpoint(url: URL, bucket: string): ((field: string) => Finding) | undefined {
  const name = bucket.toLowerCase();
  const [last = ""] = url.pathname.split("/").filter(Boolean).slice(-1);
  if (last.toLowerCase() === name) {
    const path = url.pathname.replace(/\/*[^/]*\/*$/, "");
    return (field) => refused(field, `the endpoint ends with the bucket`, `Write it without: ${url.origin}${path}`);
  }
  const host = url.hostname.startsWith(`${name}.`) ? url.hostname.slice(name.length + 1) : "";
  const labels = host.split(".");
  // A store's own host has its name before a domain. Names of Services have no bucket before them, and may be called like one.
  if (labels.length < 3 || labels.includes("svc")) return undefined;
  const rest = `${url.protocol}//${host}${url.port === "" ? "" : `:${url.port}`}`;
  return (field) => refused(field, "the endpoint begins with the bucket", `Write it without: ${rest}`);
}

function hostOf(endpoint: string): string | undefined {
  return URL.parse(endpoint)?.host;
}

function prefixFindings(prefix: string | undefined, field: string): readonly Finding[] {
  if (prefix === undefined || prefix === "") return [];
  const remedy = "Write parts with slashes between them, such as clusters/berlin";
  if (hasControls(prefix)) return [refused(field, `${quote(prefix)} holds a control character`, remedy)];
  if (prefix.startsWith("/") || prefix.endsWith("/")) return [refused(field, `${quote(prefix)} begins or ends with a slash`, remedy)];
  if (prefix.split("/").some((part) => part === "" || part.startsWith(".")))
    return [refused(field, `${quote(prefix)} has a part that is empty or begins with a dot`, remedy)];
  if (!/^[A-Za-z0-9!_.*'()/-]+$/.test(prefix))
    return [refused(field, `${quote(prefix)} has characters that not every store takes`, `${remedy}: letters, digits, - and _`)];
  return prefix.length > LONGEST_PREFIX ? [refused(field, `it has more than ${LONGEST_PREFIX} characters`, remedy)] : [];
}

function directoryFindings({ path, prefix }: DirectoryStorage, { hasDirectory = false }: BackupOptions, field: string): readonly Finding[] {
  const remedy = "Write a folder below the operator's --backup-directory, such as clusters/berlin";
  return [
    ...(hasDirectory
      ? []
      : [
          refused(
            field,
            "the operator has no folder for backups",
            "Start it with --backup-directory (chart: backup.directory.enabled), or use s3",
          ),
        ]),
    ...(path === undefined || path === ""
      ? []
      : path.startsWith("/") || path.includes("\\") || hasControls(path)
        ? [refused(`${field}.path`, `${quote(path)} is no relative path`, remedy)]
        : path.split("/").some((part) => part === "" || part.startsWith("."))
          ? [refused(`${field}.path`, `${quote(path)} has a part that is empty or begins with a dot`, remedy)]
          : !/^[!-~]+$/.test(path) || path.split("/").some((part) => part.length > LONGEST_NAME)
            ? [refused(`${field}.path`, `${quote(path)} has a part that not every file system takes`, `${remedy}: letters and digits`)]
            : path.length > LONGEST_PREFIX
              ? [refused(`${field}.path`, `it has more than ${LONGEST_PREFIX} characters`, remedy)]
              : []),
    ...prefixFindings(prefix, `${field}.prefix`),
  ];
}

function recipientFindings(recipients: readonly string[], field: string): readonly Finding[] {
  const remedy = "Write what age-keygen prints after 'Public key:', age1 and 58 characters";
  return recipients.flatMap((recipient, index) => {
    const at = `${field}[${index}]`;
    if (/^AGE-SECRET-KEY-/i.test(recipient.trim()))
      return [
        refused(
          at,
          "it is an identity, which is the secret half",
          `Everybody who reads this object has it now: make another key pair. ${remedy}`,
        ),
      ];
    if (!isAgeRecipient(recipient)) return [refused(at, "it is no recipient of age", remedy)];
    return recipients.indexOf(recipient) < index ? [refused(at, "it is there already", "Leave it out")] : [];
  });
}

function durationFindings(text: string | undefined, field: string, least: number, most = 3650 * DAY): readonly Finding[] {
  if (text === undefined) return [];
  const ms = durationMs(text);
  if (ms === undefined) return [refused(field, `${quote(text)} is no duration`, "Write it as 90m, 24h or 30d")];
  return ms >= least && ms <= most
    ? []
    : [refused(field, `${quote(text)} is out of range`, `Write ${least / MINUTE}m to ${Math.floor(most / DAY)}d`)];
}

function selectorFindings(selector: SecretKeySelector | undefined, field: string): readonly Finding[] {
  if (selector === undefined) return [];
  return selector.name === undefined || selector.name === "" || selector.key === ""
    ? [refused(field, "it names no Secret or no key", "Give name and key of a Secret in the same namespace")]
    : [];
}

function bundleFindings(pem: string, field: string): readonly Finding[] {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem))
    return [
      refused(field, "it holds a private key", "Everybody who reads this object has the key now: replace it. Give certificates alone"),
    ];
  return /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(pem)
    ? []
    : [refused(field, "it holds no certificate", "Give PEM that begins with -----BEGIN CERTIFICATE-----")];
}

/** Marks that the operator itself sets or acts on: in a template they would act on every backup. */
function ownMarks(marks: Readonly<Record<string, string>> | undefined, field: string): readonly Finding[] {
  return Object.keys(marks ?? {})
    .filter((key) => /(^|\.)(talos-operator\.dev|talos\.alperen\.cloud)\//.test(key))
    .map((key) => refused(`${field}[${quote(key)}]`, "it is the operator's own", "Leave it out"));
}

// eslint-disable-next-line no-control-regex -- what is looked for
const hasControls = (text: string) => /[\u0000-\u001f\u007f]/.test(text);

function refused(field: string, message: string, remedy: string): Finding {
  return { field, message, remedy, reason: "SpecRefused" };
}

function insecure(field: string, message: string, remedy: string): Finding {
  return { field, message, remedy, reason: "InsecureObjectStorage" };
}
