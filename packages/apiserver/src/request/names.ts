const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Rule of most names. Returns what is wrong, in kube-apiserver's words. */
export function refuseSubdomain(name: string): readonly string[] {
  return [
    ...(name.length > 253 ? ["must be no more than 253 characters"] : []),
    ...(subdomain.test(name)
      ? []
      : [
          "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        ]),
  ];
}

/** Rule of the names of namespaces and Services. */
export function refuseLabel(name: string): readonly string[] {
  const tooLong = name.length > 63 ? ["must be no more than 63 characters"] : [];
  if (label.test(name)) return tooLong;
  return [
    ...tooLong,
    subdomain.test(name)
      ? "must not contain dots"
      : "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ];
}

/** What {@link oldLabelRule} says. */
export const oldLabel = /^[a-z]([-a-z0-9]*[a-z0-9])?$/u;

/** The rule of labels of RFC 1035, which begin with a letter, in kube-apiserver's words. */
export const oldLabelRule =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Rule of labels of RFC 1035. */
export function refuseOldLabel(name: string): readonly string[] {
  return [...(name.length > 63 ? ["must be no more than 63 characters"] : []), ...(oldLabel.test(name) ? [] : [oldLabelRule])];
}

/** Rule of RBAC names: any path segment. */
export function refusePathSegment(name: string): readonly string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((char) => name.includes(char)).map((char) => `may not contain '${char}'`);
}
