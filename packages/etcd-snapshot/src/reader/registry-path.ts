/** Where kube-apiserver keeps an object. */
export interface RegistryPath {
  /** API group in the path: custom resources and a few built-in ones have it. Empty otherwise, whatever the group is. */
  readonly group: string;
  /** `pods`; for `/registry/services/endpoints/…` it is `services/endpoints`. */
  readonly resource: string;
  /** Empty for an object of the cluster. */
  readonly namespace: string;
  readonly name: string;
}

/** Resources whose path has a word more. */
const twoWords = new Map<string, ReadonlySet<string>>([["services", new Set(["specs", "endpoints"])]]);
/** Below these lie records of kube-apiserver itself, not objects that somebody named: addresses of its instances, ranges of addresses and ports. */
const internal = new Set(["masterleases", "peerserverleases", "ranges"]);

const prefix = "/registry/";
/** What names may be made of; longer or other ones are never shown. */
const segment = /^[\w.:@%+~=-]{1,253}$/;

/** Longest key that is looked at. */
const maxKey = 1024;

/** The path of an object; `undefined` for other keys, also below `/registry`: `/registry/health`, and paths of another shape. */
export function readRegistryPath(key: Uint8Array): RegistryPath | undefined {
  if (key.length > maxKey) return undefined;
  const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1");
  if (!text.startsWith(prefix)) return undefined;
  const parts = text.slice(prefix.length).split("/");
  if (parts.length > 5 || !parts.every((part) => segment.test(part))) return undefined;
  // Names of groups of custom resources have a dot, names of resources have none.
  const group = parts[0]?.includes(".") === true ? (parts.shift() ?? "") : "";
  let resource = parts.shift() ?? "";
  if (group === "" && twoWords.get(resource)?.has(parts[0] ?? "") === true) resource += `/${parts.shift() ?? ""}`;
  const name = parts.pop();
  const namespace = parts.pop() ?? "";
  if (name === undefined || parts.length > 0) return undefined;
  return { group, resource, namespace, name };
}

/** Whether the path is one of kube-apiserver's own records. */
export function isInternalPath({ group, resource }: RegistryPath): boolean {
  return group === "" && internal.has(resource);
}

/** Whether the path is that of a Node, which kube-apiserver keeps under its first name. */
export function isNodePath({ group, resource, namespace }: RegistryPath): boolean {
  return group === "" && resource === "minions" && namespace === "";
}
