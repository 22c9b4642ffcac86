import { apiVersionOf, controllerReference, labels, talosControlPlaneResource, talosconfigKey } from "@talos-operator/api";
import type { TalosControlPlane } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Keys } from "@talos-operator/ports";
import { load } from "js-yaml";
import { secretData, secretText, secretType } from "./secret.ts";
import type { Secret } from "./secret.ts";

/** Key of the kubeconfig in its Secret, as published. */
const KUBECONFIG_KEY = "kubeconfig";

/** What an access Secret says about itself, without its content. */
export interface StoredAccess {
  /** End of the client certificate in it; `undefined` when it holds none that can be read. */
  readonly expiresAt: number | undefined;
  /** False when the Secret is controlled by another object. */
  readonly isOurs: boolean;
}

/** The Secrets with which people reach a cluster. */
export interface AccessStore {
  readKubeconfig(namespace: string, name: string, owner: TalosControlPlane): Promise<StoredAccess | undefined>;
  readTalosconfig(namespace: string, name: string, owner: TalosControlPlane): Promise<StoredAccess | undefined>;
  writeKubeconfig(namespace: string, name: string, owner: TalosControlPlane, text: string): Promise<StoredAccess>;
  writeTalosconfig(namespace: string, name: string, owner: TalosControlPlane, text: string): Promise<StoredAccess>;
}

export function createAccessStore(client: KubeClient, keys: Keys, fieldManager: string): AccessStore {
  const secrets = client.resource<Secret>(secretType);
  const read = async (
    namespace: string,
    name: string,
    key: string,
    owner: TalosControlPlane,
    certificate: (text: string) => string | undefined,
  ): Promise<StoredAccess | undefined> => {
    const secret = await secrets.tryGet({ namespace, name });
    return secret === undefined ? undefined : describe(secret, key, owner, certificate);
  };
  const describe = (
    secret: Secret,
    key: string,
    owner: TalosControlPlane,
    certificate: (text: string) => string | undefined,
  ): StoredAccess => {
    const controller = secret.metadata.ownerReferences?.find((reference) => reference.controller === true);
    return {
      expiresAt: expiryOf(secretText(secret, key), certificate, keys),
      isOurs: controller === undefined ? secret.metadata.labels?.[labels.secretKind] !== undefined : controller.uid === owner.metadata.uid,
    };
  };
  const write = async (
    namespace: string,
    name: string,
    secretKind: string,
    owner: TalosControlPlane,
    key: string,
    text: string,
    certificate: (text: string) => string | undefined,
  ): Promise<StoredAccess> => {
    const reference = controllerReference({
      apiVersion: apiVersionOf(talosControlPlaneResource),
      kind: owner.kind,
      metadata: owner.metadata,
    });
    const stored = await secrets.apply(
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          namespace,
          name,
          labels: { [labels.cluster]: owner.metadata.name.slice(0, 63), [labels.secretKind]: secretKind },
          ownerReferences: [reference],
        },
        type: "Opaque",
        data: secretData({ [key]: text }),
      },
      { fieldManager, force: true },
    );
    return describe(stored, key, owner, certificate);
  };
  return {
    readKubeconfig: (namespace, name, owner) => read(namespace, name, KUBECONFIG_KEY, owner, kubeconfigCertificate),
    readTalosconfig: (namespace, name, owner) => read(namespace, name, talosconfigKey(owner.metadata.name), owner, talosconfigCertificate),
    writeKubeconfig: (namespace, name, owner, text) =>
      write(namespace, name, "kubeconfig", owner, KUBECONFIG_KEY, text, kubeconfigCertificate),
    writeTalosconfig: (namespace, name, owner, text) =>
      write(namespace, name, "talosconfig", owner, talosconfigKey(owner.metadata.name), text, talosconfigCertificate),
  };
}

function expiryOf(text: string | undefined, certificate: (text: string) => string | undefined, keys: Keys): number | undefined {
  if (text === undefined) return undefined;
  try {
    const pem = certificate(text);
    return pem === undefined ? undefined : keys.describeCertificate(pem).notAfter;
  } catch {
    // Unreadable content counts as missing: it is then written anew.
    return undefined;
  }
}

function kubeconfigCertificate(text: string): string | undefined {
  const users = child(load(text), "users");
  return decode(child(child(Array.isArray(users) ? users[0] : undefined, "user"), "client-certificate-data"));
}

function talosconfigCertificate(text: string): string | undefined {
  const contexts = child(load(text), "contexts");
  const [first] = typeof contexts === "object" && contexts !== null ? Object.values(contexts) : [];
  return decode(child(first, "crt"));
}

function child(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function decode(value: unknown): string | undefined {
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : undefined;
}
