import { isAlreadyExists, isConflict, isNotFound } from "@talos-operator/kube-runtime";
import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import { ManifestsFault } from "./fault.ts";

/** Where inventories are: in a namespace that every cluster has from its first moment on and that nobody deletes. */
const INVENTORY_NAMESPACE = "kube-system";

/** On an object that a set made: the UID of what the set belongs to. Only with it an object is ever deleted. */
export const OWNER_ANNOTATION = "talos-operator.dev/addon-owner";

const configMaps: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };

/** An object that was applied, or was about to be. */
export interface Entry {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** What a set has in a cluster: at least all that it ever made there. */
export interface Inventory {
  readonly entries: readonly Entry[];
  /** What was last applied as a whole; `undefined` while a run is at it, or after one that failed. */
  readonly inputs: string | undefined;
}

interface ConfigMap {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
}

/** The inventory of one set in one cluster: a ConfigMap that is changed by compare-and-swap alone. */
export interface InventoryStore {
  /** `undefined` = nothing was ever begun here. @throws ManifestsFault when it is there and cannot be read */
  read(): Promise<Inventory | undefined>;
  /** @throws ManifestsFault `failed` when somebody else wrote since the last read */
  write(inventory: Inventory): Promise<void>;
  remove(): Promise<void>;
}

/** Name of the inventory of what belongs to an object. */
export function inventoryName(owner: string): string {
  return `talos-operator-addon-${owner}`;
}

/** @param title what people call the set: `<namespace>/<name>` */
export function createInventoryStore(
  client: KubeClient,
  { owner, title }: { readonly owner: string; readonly title: string },
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
): InventoryStore {
  const maps = client.resource<ConfigMap>(configMaps);
  const key = { namespace: INVENTORY_NAMESPACE, name: inventoryName(owner) };
  let seen: ConfigMap | undefined;
  return {
    async read() {
      seen = await maps.tryGet(key, options);
      return seen === undefined ? undefined : inventoryOf(seen);
    },
    async write({ entries, inputs }) {
      const map: ConfigMap = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          ...(seen?.metadata ?? key),
          labels: { ...seen?.metadata.labels, "app.kubernetes.io/managed-by": "talos-operator" },
          annotations: { ...seen?.metadata.annotations, [OWNER_ANNOTATION]: owner },
        },
        data: { set: title, objects: JSON.stringify(entries), ...(inputs === undefined ? {} : { inputs }) },
      };
      try {
        seen = await (seen === undefined ? maps.create(map, options) : maps.update(map, options));
      } catch (thrown) {
        if (isConflict(thrown) || isAlreadyExists(thrown) || isNotFound(thrown))
          throw new ManifestsFault("failed", "Another run is at work on the same objects.", true, { cause: thrown });
        throw thrown;
      }
    },
    async remove() {
      const { uid, resourceVersion } = seen?.metadata ?? {};
      if (uid === undefined || resourceVersion === undefined) return;
      try {
        await maps.delete(key, { ...options, preconditions: { uid, resourceVersion } });
      } catch (thrown) {
        if (!isNotFound(thrown)) throw thrown;
      }
    },
  };
}

/** One word for an object, whatever version it is served in. */
export function identityOf({ apiVersion, kind, namespace = "", name }: Entry): string {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  return `${group} ${kind} ${namespace} ${name}`;
}

/** For people: `Deployment web/page`. */
export function entryText({ kind, namespace, name }: Entry): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

/** What both name, each object once; of one object the entry of the later list counts. Pure. */
export function union(before: readonly Entry[], after: readonly Entry[]): readonly Entry[] {
  return [...new Map([...before, ...after].map((entry) => [identityOf(entry), entry])).values()];
}

/** What is in the first list and not in the second. Pure. */
export function without(entries: readonly Entry[], others: readonly Entry[]): readonly Entry[] {
  const known = new Set(others.map(identityOf));
  return entries.filter((entry) => !known.has(identityOf(entry)));
}

function inventoryOf({ data = {} }: ConfigMap): Inventory {
  let entries: unknown;
  try {
    entries = JSON.parse(data["objects"] ?? "");
  } catch {
    entries = undefined;
  }
  // Whoever cannot tell what was made must neither forget it nor guess.
  if (!Array.isArray(entries) || !entries.every(isEntry))
    throw new ManifestsFault(
      "failed",
      `The inventory in ${INVENTORY_NAMESPACE} cannot be read: somebody changed it. Delete that ConfigMap; what left the set before is then deleted by hand.`,
      false,
    );
  return { entries, inputs: data["inputs"] };
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== "object" || value === null) return false;
  const { apiVersion, kind, namespace, name } = value as Readonly<Record<string, unknown>>;
  const isText = (one: unknown): boolean => typeof one === "string" && one !== "";
  return isText(apiVersion) && isText(kind) && isText(name) && (namespace === undefined || isText(namespace));
}
