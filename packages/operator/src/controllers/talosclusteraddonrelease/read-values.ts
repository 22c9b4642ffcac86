import { labels } from "@talos-operator/api";
import type { HelmSpec, ReadyReason } from "@talos-operator/api";
import type { RepositoryAccess } from "@talos-operator/helm";
import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import { demandValues, renderValues, ValuesError } from "../../addons/values-template.ts";
import type { ClusterValues } from "../../addons/values-template.ts";
import { secretText, secretType } from "../../secrets/secret.ts";
import type { Secret } from "../../secrets/secret.ts";
import { readKey } from "../talosetcdbackup/store-keys.ts";

const configMaps: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };

/** What was read, or why not: names alone, no part of a value. */
export type Read<T> =
  { readonly kind: "read"; readonly value: T } | { readonly kind: "missing"; readonly reason: ReadyReason; readonly message: string };

/** Values in the order in which they win over each other. */
export interface ReadValues {
  readonly documents: readonly string[];
  /** Places of those of them that stand in Secrets. */
  readonly hidden: readonly number[];
  readonly isSetSyntax: boolean;
}

/** Values of one run travel in a Secret, which takes a mebibyte. As JSON, bytes. */
const LARGEST_TOGETHER = 900_000;

const missing = (reason: ReadyReason, message: string) => ({ kind: "missing", reason, message }) as const;

/** Reads all that values are made of: the template, then what other objects of the namespace hold, then the spec's own. @throws KubeApiError */
export async function readValues(helm: HelmSpec, cluster: ClusterValues, namespace: string, client: KubeClient): Promise<Read<ReadValues>> {
  const documents: string[] = [];
  const hidden: number[] = [];
  try {
    const rendered = renderValues(helm.valuesTemplate ?? "", cluster);
    if (rendered.document !== "") documents.push(rendered.document);
    for (const { kind, name, key = "values.yaml", optional } of helm.valuesFrom ?? []) {
      const text =
        kind === "Secret"
          ? await readKey({ name, key, ...(optional === undefined ? {} : { optional }) }, namespace, client)
          : await configText(name, key, optional === true, namespace, client);
      if (text.kind === "missing") return missing("ValuesNotFound", withRemedy(text, namespace));
      if (text.value === undefined) continue;
      demandValues(text.value, `${kind} ${name}, key ${key},`);
      if (kind === "Secret") hidden.push(documents.length);
      documents.push(text.value);
    }
    if (helm.values !== undefined && Object.keys(helm.values).length > 0) documents.push(JSON.stringify(helm.values));
    const bytes = Buffer.byteLength(JSON.stringify(documents));
    if (bytes > LARGEST_TOGETHER)
      return missing(
        "ValuesRefused",
        `All values together have ${bytes} bytes, and ${LARGEST_TOGETHER} are the most: a release has to fit into a Secret. Leave out what the chart has as its defaults.`,
      );
    return { kind: "read", value: { documents, hidden, isSetSyntax: rendered.isSetSyntax } };
  } catch (thrown) {
    if (thrown instanceof ValuesError) return missing("ValuesRefused", `${thrown.message}.`);
    throw thrown;
  }
}

/** What is missing is looked for in one place only. */
function withRemedy({ message, isAbsent }: { readonly message: string; readonly isAbsent?: true }, namespace: string): string {
  return isAbsent === true ? `${message} It is read from the namespace ${namespace}: make it there.` : message;
}

/** The text under a key of a ConfigMap. @throws KubeApiError */
export async function configText(name: string, key: string, isOptional: boolean, namespace: string, client: KubeClient) {
  const map = await client
    .resource<{ readonly metadata: object; readonly data?: Readonly<Record<string, string>> }>(configMaps)
    .tryGet({ namespace, name });
  const text = map?.data?.[key];
  if (text !== undefined || isOptional) return { kind: "read", value: text } as const;
  return {
    kind: "missing",
    message: map === undefined ? `ConfigMap ${name} not found.` : `ConfigMap ${name} has no text under ${key}.`,
    isAbsent: true,
  } as const;
}

/** Reads what the repository asks for: user name and password, and the authority that signed its certificate. @throws KubeApiError */
export async function readAccess(helm: HelmSpec, namespace: string, client: KubeClient): Promise<Read<RepositoryAccess | undefined>> {
  const { credentials, tlsConfig } = helm;
  const access: { username?: string; password?: string; ca?: string } = {};
  if (credentials !== undefined) {
    const { key, secret } = credentials;
    const password = await readKey({ name: secret.name ?? "", key }, namespace, client);
    if (password.kind === "missing") return missing("ValuesNotFound", withRemedy(password, namespace));
    const username = await readKey({ name: secret.name ?? "", key: "username", optional: true }, namespace, client);
    if (password.value !== undefined) access.password = password.value;
    if (username.kind === "read" && username.value !== undefined) access.username = username.value;
  }
  if (tlsConfig?.caSecret?.name !== undefined) {
    const { name } = tlsConfig.caSecret;
    const secret = await client.resource<Secret>(secretType).tryGet({ namespace, name });
    const ca = secret === undefined || secret.metadata.labels?.[labels.secretKind] !== undefined ? undefined : secretText(secret, "ca.crt");
    if (ca === undefined || !ca.includes("-----BEGIN CERTIFICATE-----"))
      return missing(
        "ValuesNotFound",
        secret === undefined ? `Secret ${name} not found.` : `Secret ${name} has no certificate under ca.crt.`,
      );
    access.ca = ca;
  }
  return { kind: "read", value: Object.keys(access).length === 0 ? undefined : access };
}
