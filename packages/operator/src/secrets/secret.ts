import type { ObjectMeta } from "@talos-operator/api";
import type { ResourceType } from "@talos-operator/kube-runtime";

/** A Kubernetes Secret, as far as this operator writes and reads it. Never cached, never listed: read by name, used, forgotten. */
export interface Secret {
  readonly apiVersion: "v1";
  readonly kind: "Secret";
  readonly metadata: ObjectMeta;
  readonly type?: string;
  /** True: the API server refuses every change of the content. */
  readonly immutable?: boolean;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export const secretType: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

/** The text under a key, or `undefined`. */
export function secretText(secret: Secret, key: string): string | undefined {
  const value = secret.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}

/** Texts as a Secret's `data`. */
export function secretData(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, "utf8").toString("base64")]));
}
