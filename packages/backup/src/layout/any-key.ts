import { parseName, type BackupObject } from "./keys.ts";

/** An object that may be of a backup, whoever the cluster is. */
export type AnyBackupKey =
  /** Written by this operator. */
  | { readonly by: "us"; readonly folder: string; readonly namespace: string; readonly cluster: string; readonly object: BackupObject }
  /**
   * Written by the operator that published the kinds: a plain snapshot, or the state, which is the cluster's keys in clear. `time` is the text in its name that
   * says when.
   */
  | {
      readonly by: "published";
      readonly folder: string;
      readonly cluster: string;
      readonly what: "snapshot" | "state";
      readonly time: string;
    };

/** Where the published operator puts them, whatever bucket it is given. */
export const PUBLISHED_FOLDER = "talos-operator-etcd-backups";

/** `<control plane>-<12 hex digits>`. */
const CLUSTER = /^[a-z0-9][-a-z0-9._]*-[0-9a-f]{12}$/;
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const PUBLISHED = /^(?:etcd-snapshot-(.*)\.db|(.*)\.db|state-(.*)\.yaml)$/;
/** Elsewhere than in its folder, for example in a copy of it, only the names that it gives tell them. */
const PUBLISHED_ELSEWHERE = /^(?:etcd-snapshot|state)-\d[-\dTZ:]*\.(?:db|yaml)$/;

/** What a key stands for; `undefined` for what no operator wrote as a backup. */
export function parseBackupKey(key: string): AnyBackupKey | undefined {
  const parts = key.split("/");
  const name = parts.at(-1) ?? "";
  const folder = parts.slice(0, -1).join("/");
  const cluster = parts.at(-2) ?? "";
  const namespace = parts.at(-3) ?? "";
  const object = parseName(name);
  if (object !== undefined && CLUSTER.test(cluster) && (namespace === "" || NAMESPACE.test(namespace)))
    return { by: "us", folder, namespace, cluster, object };
  if (namespace !== PUBLISHED_FOLDER && !PUBLISHED_ELSEWHERE.test(name)) return undefined;
  const [, stamp, other, state] = PUBLISHED.exec(name) ?? [];
  const time = stamp ?? other ?? state;
  if (time === undefined) return undefined;
  return { by: "published", folder, cluster, what: state === undefined ? "snapshot" : "state", time };
}
