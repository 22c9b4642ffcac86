import { labels } from "@talos-operator/api";
import type { BackupStorage, SecretKeySelector } from "@talos-operator/api";
import type { StoreKeys } from "@talos-operator/backup";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { secretText, secretType } from "../../secrets/secret.ts";
import type { Secret } from "../../secrets/secret.ts";

/** What was read, or the names of what is missing. Names alone: no part of a value is in it. `isAbsent`: it is not there, and may be made. */
export type ReadKeys<T> =
  { readonly kind: "read"; readonly value: T } | { readonly kind: "missing"; readonly message: string; readonly isAbsent?: true };

/** What was read of a store's keys. */
export type ReadStoreKeys = ReadKeys<StoreKeys | undefined> & {
  /** Names of Secrets that are there without the label that says that backups may use them. */
  readonly unlabelled: readonly string[];
};

/**
 * Reads the keys of a store, live and only when they are needed, from Secrets of the backup's own namespace.
 *
 * @param demandsLabel `--require-backup-store-label`: of a Secret without the label nothing is read
 * @throws KubeApiError when nobody can say what is in them
 */
export async function readStoreKeys(
  { s3 }: BackupStorage,
  namespace: string,
  client: KubeClient,
  demandsLabel = false,
): Promise<ReadStoreKeys> {
  if (s3?.accessKeyID === undefined || s3.secretAccessKey === undefined) return { kind: "read", value: undefined, unlabelled: [] };
  const all = await Promise.all(
    KEY_FIELDS.map(async (field) => {
      const selector = s3[field];
      if (selector === undefined) return undefined;
      const secret = await secretOf(selector, namespace, client);
      const isUnlabelled = secret !== undefined && !isOfAnotherUse(secret) && !mayBackupsUse(secret);
      const text = textOf(selector, secret);
      const isNotFound = secret === undefined && text.kind === "missing";
      const told = isNotFound ? { ...text, message: notFound(selector.name ?? "", namespace, s3) } : text;
      return { name: selector.name ?? "", isUnlabelled, text: told };
    }),
  );
  const unlabelled = [...new Set(all.flatMap((one) => (one?.isUnlabelled === true ? [one.name] : [])))];
  if (demandsLabel && unlabelled.length > 0) return { kind: "missing", message: labelRefusal(unlabelled), unlabelled };
  return {
    ...keysOf(
      s3,
      all.map((one) => one?.text),
    ),
    unlabelled,
  };
}

/** Fields that name keys, in the order in which they are read. */
const KEY_FIELDS = ["accessKeyID", "secretAccessKey", "sessionToken"] as const;

/** Said once of a Secret that several fields name. */
function notFound(name: string, namespace: string, s3: NonNullable<BackupStorage["s3"]>): string {
  const fields = KEY_FIELDS.filter((field) => (s3[field]?.name ?? "") === name && s3[field] !== undefined);
  return `Secret ${namespace}/${name} not found (spec.backupStorage.s3.${fields.join(", ")}).`;
}

function keysOf(
  { accessKeyID: ofId, secretAccessKey: ofSecret, sessionToken: ofToken }: NonNullable<BackupStorage["s3"]>,
  texts: readonly (ReadKeys<string | undefined> | undefined)[],
): ReadKeys<StoreKeys | undefined> {
  const missing = texts.flatMap((one) => (one?.kind === "missing" ? [one.message] : []));
  // Often of one Secret, and then said once.
  if (missing.length > 0) return { kind: "missing", message: [...new Set(missing)].join(" ") };
  const [accessKeyID, secretAccessKey, sessionToken] = texts.map((one) => (one?.kind === "read" ? one.value : undefined));
  // Optional ones that are absent count as not given.
  if (accessKeyID === undefined || secretAccessKey === undefined) return { kind: "read", value: undefined };
  const wrong = [ofId, ofSecret, ofToken].filter(
    (_selector, index) => !isKeyText([accessKeyID, secretAccessKey, sessionToken][index] ?? ""),
  );
  if (wrong.length > 0)
    return {
      kind: "missing",
      message: wrong
        .map(
          (selector) =>
            `What Secret ${selector?.name ?? ""} has under ${selector?.key ?? ""} is no key of a store: it has white space, control characters, or too many letters.`,
        )
        .join(" "),
    };
  return { kind: "read", value: { accessKeyID, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) } };
}

/** Whether a user who may write the Secret said that backups may use it: a user who may write a backup can send it to any endpoint. */
export function mayBackupsUse({ metadata }: Secret): boolean {
  return metadata.labels?.[labels.backupStore] === "true";
}

/** Why nothing is read of Secrets, and what to do. */
export function labelRefusal(names: readonly string[]): string {
  return `${secretsNamed(names)} no label ${labels.backupStore}=true, which --require-backup-store-label demands. Label what backups may use.`;
}

/** What is said of Secrets that are used without their label. */
export function unlabelledWords(names: readonly string[]): string {
  return `${secretsNamed(names)} no label ${labels.backupStore}=true. A user who may write a backup can send it to any endpoint. Label what backups may use.`;
}

/** @param names one to three */
function secretsNamed(names: readonly string[]): string {
  return names.length === 1 ? `Secret ${names.join("")} has` : `Secrets ${names.join(", ")} have`;
}

/** Those of AWS have 20 and 40 letters, a session token up to some thousands. */
const LONGEST_KEY = 16_384;

/** They travel in headers: what is none of them would fail at each try, in words that name no Secret. */
function isKeyText(text: string): boolean {
  return /^[!-~]*$/.test(text) && text.length <= LONGEST_KEY;
}

/** Reads one key of a Secret; `undefined` where it is optional and absent. @throws KubeApiError */
export async function readKey(selector: SecretKeySelector, namespace: string, client: KubeClient): Promise<ReadKeys<string | undefined>> {
  return textOf(selector, await secretOf(selector, namespace, client));
}

function secretOf({ name = "" }: SecretKeySelector, namespace: string, client: KubeClient): Promise<Secret | undefined> {
  return client.resource<Secret>(secretType).tryGet({ namespace, name });
}

function textOf({ name = "", key, optional }: SecretKeySelector, secret: Secret | undefined): ReadKeys<string | undefined> {
  if (secret !== undefined && isOfAnotherUse(secret))
    return { kind: "missing", message: `Secret ${name} is of another use, and nothing of it is given away. Make one of type Opaque.` };
  const text = secret === undefined ? "" : (secretText(secret, key) ?? "").trim();
  if (text !== "") return { kind: "read", value: text };
  if (optional === true) return { kind: "read", value: undefined };
  return {
    kind: "missing",
    message: secret === undefined ? `Secret ${name} not found.` : `Secret ${name} has no text under ${key}.`,
    isAbsent: true,
  };
}

/** Types that Kubernetes and its tools give a meaning of their own. */
const OTHER_TYPES = /^(kubernetes\.io\/(?!basic-auth$)|bootstrap\.kubernetes\.io\/|helm\.sh\/)/;

/**
 * True for tokens, certificates and what this operator keeps in Secrets: an access key ID travels in clear to an endpoint of the asker's choice, so that
 * whoever may ask for a backup and not read Secrets would have keys of the cluster sent to them.
 */
function isOfAnotherUse({ type = "Opaque", metadata }: Secret): boolean {
  const marks = metadata.labels ?? {};
  return OTHER_TYPES.test(type) || marks[labels.secretKind] !== undefined || marks[labels.component] !== undefined;
}
