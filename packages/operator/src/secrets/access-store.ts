import { apiVersionOf, controllerReference, labels, talosControlPlaneResource, talosconfigKey } from "@talos-operator/api";
import type { TalosControlPlane } from "@talos-operator/api";
import { isAlreadyExists } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Keys } from "@talos-operator/ports";
import { load } from "js-yaml";
import { child } from "./child.ts";
import { clusterLabel } from "./cluster-label.ts";
import { secretData, secretText, secretType } from "./secret.ts";
import type { Secret } from "./secret.ts";

/** What an access Secret holds. */
interface Content {
  /** Value of the label that marks it. */
  readonly secretKind: "kubeconfig" | "talosconfig";
  /** Its key in the Secret, as published. */
  readonly key: string;
  /** The client certificate in the text, in PEM. */
  readonly certificate: (text: string) => string | undefined;
  /** Where the text leads. */
  readonly endpoints: (text: string) => readonly string[] | undefined;
}

const kubeconfig: Content = {
  secretKind: "kubeconfig",
  key: "kubeconfig",
  certificate: kubeconfigCertificate,
  endpoints: kubeconfigServer,
};

function talosconfigOf(owner: TalosControlPlane): Content {
  return {
    secretKind: "talosconfig",
    key: talosconfigKey(owner.metadata.name),
    certificate: talosconfigCertificate,
    endpoints: talosconfigEndpoints,
  };
}

/** What an access Secret says about itself, without its content. */
export interface StoredAccess {
  /** End of the client certificate in it; `undefined` when it holds none that can be read. */
  readonly expiresAt: number | undefined;
  /** Its begin; absent when it holds none that can be read. */
  readonly validFrom?: number;
  /** Control planes that a talosconfig leads to, or the URL that a kubeconfig does; absent when it names none that can be read. */
  readonly endpoints?: readonly string[];
  /** False when the Secret is another object's, or somebody's. */
  readonly isOurs: boolean;
  /** Nothing in it can be changed any more. */
  readonly isImmutable?: true;
}

/** The Secrets with which people reach a cluster. One of somebody else is described and left as it is. */
export interface AccessStore {
  readKubeconfig(namespace: string, name: string, owner: TalosControlPlane): Promise<StoredAccess | undefined>;
  readTalosconfig(namespace: string, name: string, owner: TalosControlPlane): Promise<StoredAccess | undefined>;
  writeKubeconfig(namespace: string, name: string, owner: TalosControlPlane, text: string): Promise<StoredAccess>;
  writeTalosconfig(namespace: string, name: string, owner: TalosControlPlane, text: string): Promise<StoredAccess>;
}

export function createAccessStore(client: KubeClient, keys: Keys, fieldManager: string): AccessStore {
  const secrets = client.resource<Secret>(secretType);
  const read = async (namespace: string, name: string, content: Content, owner: TalosControlPlane): Promise<StoredAccess | undefined> => {
    const secret = await secrets.tryGet({ namespace, name });
    return secret === undefined ? undefined : describe(secret, content, owner);
  };
  const describe = (secret: Secret, content: Content, owner: TalosControlPlane): StoredAccess => {
    const { secretKind } = content;
    const controller = secret.metadata.ownerReferences?.find((reference) => reference.controller === true);
    return {
      ...readText(secretText(secret, content.key), content, keys),
      ...(secret.immutable === true ? { isImmutable: true } : {}),
      // Without a controller the marks of this very cluster; a mark alone, or that of another cluster, is anybody's.
      isOurs:
        controller === undefined
          ? secret.metadata.labels?.[labels.secretKind] === secretKind &&
            secret.metadata.labels[labels.cluster] === clusterLabel(owner.metadata.name)
          : controller.uid === owner.metadata.uid,
    };
  };
  /** What was created, or what is there. */
  const createOnly = async (
    namespace: string,
    name: string,
    marks: Readonly<Record<string, string>>,
    reference: ReturnType<typeof controllerReference>,
    data: NonNullable<Secret["data"]>,
  ): Promise<Secret | { readonly created: Secret }> => {
    const metadata = { namespace, name, labels: marks, ownerReferences: [reference] };
    try {
      return { created: await secrets.create({ apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data }, { fieldManager }) };
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) throw thrown;
      return secrets.get({ namespace, name });
    }
  };
  const write = async (
    namespace: string,
    name: string,
    content: Content,
    owner: TalosControlPlane,
    text: string,
  ): Promise<StoredAccess> => {
    const reference = controllerReference({
      apiVersion: apiVersionOf(talosControlPlaneResource),
      kind: owner.kind,
      metadata: owner.metadata,
    });
    const marks = { [labels.cluster]: clusterLabel(owner.metadata.name), [labels.secretKind]: content.secretKind };
    const data = secretData({ [content.key]: text });
    // Created, or read now and written only as it was read: what somebody else put there meanwhile is never overwritten.
    const existing = await createOnly(namespace, name, marks, reference, data);
    if ("created" in existing) return describe(existing.created, content, owner);
    const seen = describe(existing, content, owner);
    if (!seen.isOurs) return seen;
    const { metadata } = existing;
    const others = (metadata.ownerReferences ?? []).filter((one) => one.controller !== true);
    const stored = await secrets.update(
      {
        ...existing,
        metadata: { ...metadata, labels: { ...metadata.labels, ...marks }, ownerReferences: [reference, ...others] },
        data: { ...existing.data, ...data },
      },
      { fieldManager },
    );
    return describe(stored, content, owner);
  };
  return {
    readKubeconfig: (namespace, name, owner) => read(namespace, name, kubeconfig, owner),
    readTalosconfig: (namespace, name, owner) => read(namespace, name, talosconfigOf(owner), owner),
    writeKubeconfig: (namespace, name, owner, text) => write(namespace, name, kubeconfig, owner, text),
    writeTalosconfig: (namespace, name, owner, text) => write(namespace, name, talosconfigOf(owner), owner, text),
  };
}

function readText(text: string | undefined, { certificate, endpoints }: Content, keys: Keys): Omit<StoredAccess, "isOurs" | "isImmutable"> {
  if (text === undefined) return { expiresAt: undefined };
  try {
    const pem = certificate(text);
    if (pem === undefined) return { expiresAt: undefined };
    const { notBefore, notAfter } = keys.describeCertificate(pem);
    const leadsTo = endpoints(text);
    return { expiresAt: notAfter, validFrom: notBefore, ...(leadsTo === undefined ? {} : { endpoints: leadsTo }) };
  } catch {
    // Unreadable content counts as missing: it is then written anew.
    return { expiresAt: undefined };
  }
}

function kubeconfigCertificate(text: string): string | undefined {
  const users = child(load(text), "users");
  return decode(child(child(Array.isArray(users) ? users[0] : undefined, "user"), "client-certificate-data"));
}

function kubeconfigServer(text: string): readonly string[] | undefined {
  const clusters = child(load(text), "clusters");
  const server = child(child(Array.isArray(clusters) ? clusters[0] : undefined, "cluster"), "server");
  return typeof server === "string" ? [server] : undefined;
}

function talosconfigCertificate(text: string): string | undefined {
  return decode(child(firstContext(text), "crt"));
}

function talosconfigEndpoints(text: string): readonly string[] | undefined {
  const endpoints = child(firstContext(text), "endpoints");
  return Array.isArray(endpoints) ? endpoints.filter((one) => typeof one === "string") : undefined;
}

function firstContext(text: string): unknown {
  const contexts = child(load(text), "contexts");
  return typeof contexts === "object" && contexts !== null ? Object.values(contexts)[0] : undefined;
}

function decode(value: unknown): string | undefined {
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : undefined;
}
