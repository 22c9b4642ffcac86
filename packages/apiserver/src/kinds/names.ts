const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const service = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** Rule of most names. Returns what is wrong in kube-apiserver's words. */
export function refuseSubdomain(name: string): string | undefined {
  if (name.length > 253) {
    return "must be no more than 253 characters";
  }
  return subdomain.test(name)
    ? undefined
    : "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
}

/** Rule of namespace names. */
export function refuseLabel(name: string): string | undefined {
  if (name.length > 63) {
    return "must be no more than 63 characters";
  }
  return label.test(name)
    ? undefined
    : "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

/** Rule of Service names. */
export function refuseServiceName(name: string): string | undefined {
  if (name.length > 63) {
    return "must be no more than 63 characters";
  }
  return service.test(name)
    ? undefined
    : "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
}

/** Rule of RBAC names: any path segment. */
export function refusePathSegment(name: string): string | undefined {
  if (name === "." || name === "..") {
    return `may not be '${name}'`;
  }
  return name.includes("/") || name.includes("%") ? "may not contain '/' or '%'" : undefined;
}
