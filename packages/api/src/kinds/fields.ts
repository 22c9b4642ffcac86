import { boolean, list, object, oneOf, required, string, textLike } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";
import type { ValidationRule } from "../schema/json-schema.ts";

/** `v1.13.9` or a pre-release such as `v1.14.0-beta.0`; no build metadata. */
const VERSION_PATTERN = "^v\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$";

/** A version of Talos or Kubernetes. @param example the version that a refusal shows */
export function versionField(example: string, keywords: { readonly description: string; readonly default?: string }) {
  return textLike(VERSION_PATTERN, `must be a version such as ${example}`, { ...keywords, maxLength: 128 });
}

/**
 * An IPv4 address as published, an IPv6 address, or a DNS name of two labels or more. Numbers in disguise, names of the host itself, ports, zones and paths
 * are refused here; what else is wrong with one says `validateAddress`.
 */
const HOST_PATTERN =
  "^((\\d{1,3}\\.){3}\\d{1,3}|[0-9A-Fa-f]*:[0-9A-Fa-f:]*(\\d{1,3}(\\.\\d{1,3}){3})?|([0-9A-Za-z]([0-9A-Za-z-]{0,61}[0-9A-Za-z])?\\.)+[A-Za-z]([0-9A-Za-z-]{0,61}[0-9A-Za-z])?)$";

/** The address of a machine. */
export const hostField = (description: string) =>
  textLike(HOST_PATTERN, "must be an IP address or a DNS name, for example 10.0.0.11 or node1.example.com", {
    description,
    maxLength: 253,
  });

/** SHA-256 of a file. */
export const digestField = (description: string) =>
  textLike("^[0-9a-f]{64}$", "must be a SHA-256: 64 hex digits in lower case, as sha256sum prints it", { description, maxLength: 64 });

/** A name in the same namespace. */
const localReference = object(
  { name: string({ description: "Name of the object. Default: empty, which refers to nothing.", default: "" }) },
  { description: "An object in the same namespace.", mapType: "atomic" },
);

/** A reference by name inside the namespace, as `core/v1` LocalObjectReference. */
export interface LocalObjectReference extends Infer<typeof localReference> {}
export const localReferenceField: Field<LocalObjectReference, false> = localReference;

const objectReference = object(
  {
    apiVersion: string({ description: "Group and version of the object, for example vitistack.io/v1alpha1." }),
    kind: string({ description: "Kind of the object." }),
    name: string({ description: "Name of the object." }),
    namespace: string({ description: "Namespace of the object. Default: that of the referring object." }),
    uid: string({ description: "UID, when exactly one incarnation is meant." }),
    resourceVersion: string({ description: "Accepted for compatibility; references follow the newest version." }),
    fieldPath: string({
      description: "JSONPath to one value inside the object, for example {.status.networkInterfaces[0].ipAddresses[0]}.",
    }),
  },
  { description: "Any Kubernetes object.", mapType: "atomic" },
);

/** A reference to any object, as `core/v1` ObjectReference. */
export interface ObjectReference extends Infer<typeof objectReference> {}
export const objectReferenceField: Field<ObjectReference, false> = objectReference;

const configMapKey = object(
  {
    key: required(
      string({ description: "Key in the ConfigMap whose value is a whole machine config, taken in place of the generated one." }),
    ),
    name: string({ description: "Name of the ConfigMap. Default: empty, which refers to nothing.", default: "" }),
    optional: boolean({ description: "True lets ConfigMap and key be absent; a config is then generated." }),
  },
  { description: "One key of a ConfigMap in the same namespace.", mapType: "atomic" },
);

/** A key of a ConfigMap, as `core/v1` ConfigMapKeySelector. */
export interface ConfigMapKeySelector extends Infer<typeof configMapKey> {}
export const configMapKeyField: Field<ConfigMapKeySelector, false> = configMapKey;

const secretKey = object(
  {
    key: required(string({ description: "Key in the Secret." })),
    name: string({ description: "Name of the Secret. Default: empty, which refers to nothing.", default: "" }),
    optional: boolean({ description: "True lets Secret and key be absent; it then counts as not given." }),
  },
  { description: "One key of a Secret in the same namespace.", mapType: "atomic" },
);

/** A key of a Secret, as `core/v1` SecretKeySelector. The Secret is always one of the object's own namespace. */
export interface SecretKeySelector extends Infer<typeof secretKey> {}
export const secretKeyField: Field<SecretKeySelector, false> = secretKey;

/** Whole seconds, minutes, hours and days, up to four parts: `90s`, `1h30m`, `30d`. `durationMs` reads it. */
const DURATION_PATTERN = "^([0-9]{1,6}[smhd]){1,4}$";

/** A span of time. */
export const durationField = (description: string, fallback?: string) =>
  textLike(DURATION_PATTERN, "must be a duration, for example 90s, 1h30m or 30d", {
    description,
    maxLength: 28,
    ...(fallback !== undefined && { default: fallback }),
  });

/** Where the machines come from; fixed for the life of the object. */
export const modeField = oneOf(["container", "metal", "cloud"], {
  description:
    "Where machines come from: metal (given by address or reference), container (pods), cloud. Only metal is supported yet. May not change later.",
});

/** `container`, `metal` or `cloud`. */
export type Mode = Infer<typeof modeField>;

/** Machines of one origin do not become those of another. */
export const modeStays: ValidationRule = {
  rule: "!has(oldSelf.mode) || self.mode == oldSelf.mode",
  message: "mode cannot change: set it back, or make another object",
};

/** As published, where a number of machines made mode container complete; with one the object is taken, and a condition says that the mode is not supported. */
export const noContainers: ValidationRule = {
  rule: "self.mode != 'container' || has(self.replicas) && self.replicas >= 1",
  message: "mode container is not supported: write mode: metal, and list the machines in metalSpec.machines",
};

/** What deletion does to machines. */
export const deletionPolicyField = oneOf(["reset", "preserve"], {
  description:
    "What deletion does to the machines: reset wipes them, preserve leaves them running. May change at any time. Default: reset.",
  default: "reset",
});

/** `reset` or `preserve`. */
export type DeletionPolicy = Infer<typeof deletionPolicyField>;

/** A list of IPv4 and IPv6 networks; the description names their use. */
export function cidrList(description: string): Field<readonly string[], false> {
  return list(
    textLike(
      "^((\\d{1,3}\\.){3}\\d{1,3}/\\d{1,2}|[0-9A-Fa-f]{0,4}(:[0-9A-Fa-f]{0,4}){2,7}/\\d{1,3})$",
      "must be a network, for example 10.244.0.0/16",
      {
        description: "A network such as 10.244.0.0/16 or fd00:10:244::/56; one of each family makes a dual-stack cluster.",
        maxLength: 43,
      },
    ),
    { description, maxItems: 4 },
  );
}

/** The name of a storage class. */
export const storageClassField = (description: string, rules: readonly ValidationRule[] = []) =>
  textLike("^[a-zA-Z0-9][-a-zA-Z0-9_.]*[a-zA-Z0-9]$", "must be the name of a StorageClass, for example standard-rwo", {
    description,
    maxLength: 253,
    rules,
  });
