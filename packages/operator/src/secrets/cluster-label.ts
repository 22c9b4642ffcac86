/** Most characters of a label's value in Kubernetes. */
const MAX_LABEL = 63;

/**
 * The value of the label that names a cluster: the name of its TalosControlPlane, of a longer one its first 63 characters,
 * without what no label may end with.
 */
export function clusterLabel(name: string): string {
  return name.slice(0, MAX_LABEL).replace(/[^A-Za-z0-9]+$/, "");
}
