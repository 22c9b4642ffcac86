import type { Finding, ManifestsSpec, TalosClusterAddonRelease } from "@talos-operator/api";

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** What is wrong with a set of objects beyond its schema; its texts are read by a worker alone. Pure. */
export function validateManifests(manifests: ManifestsSpec, status: TalosClusterAddonRelease["status"]): readonly Finding[] {
  const findings: Finding[] = [];
  const refuse = (field: string, message: string, remedy: string): void =>
    void findings.push({ field: `spec.manifests${field}`, message, remedy, reason: "SpecRefused" });
  const { namespace = "", sources } = manifests;
  if (namespace !== "" && !DNS_LABEL.test(namespace)) refuse(".namespace", "it is no name of a namespace", "Write it in a-z, 0-9 and -");
  for (const [index, { url }] of sources.entries()) {
    if (url === undefined) continue;
    const parsed = URL.parse(url);
    if (parsed?.protocol !== "https:" || parsed.username !== "" || parsed.password !== "")
      refuse(`.sources[${index}].url`, "it is no address with https://, or holds a user name", "Write the address alone, with https://");
  }
  if (status?.releaseName !== undefined && status.manifests === undefined)
    refuse("", "a Helm release was installed by this object, and stays", "Make another addon with the manifests, and delete this one");
  return findings;
}

/** What is wrong with a chart where objects were applied before. Pure. */
export function validateAfterManifests(status: TalosClusterAddonRelease["status"]): readonly Finding[] {
  if (status?.manifests === undefined) return [];
  return [
    {
      field: "spec.helmSpec",
      message: "manifests were applied by this object, and stay",
      remedy: "Make another addon with the chart, and delete this one",
      reason: "SpecRefused",
    },
  ];
}
