/** A document as people call it: `v1alpha1`, `HostnameConfig`, `LinkConfig eth0`; in errors Talos writes `/v1alpha1/` and `v1alpha1/LinkConfig/eth0`. */
export function documentName(identity: string): string {
  const [version = "", kind = "", ...name] = identity.split("/");
  const group = version === "" || version === "v1alpha1" ? "" : `${version}/`;
  return `${group}${kind} ${name.join("/")}`.trimEnd();
}
