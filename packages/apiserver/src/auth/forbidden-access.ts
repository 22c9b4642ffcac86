import { StatusError } from "../request/status.ts";
import type { AccessAttributes } from "./authorize.ts";

/** 403 for what an authorizer does not allow, in kube-apiserver's words. */
export function forbiddenAccess(attributes: AccessAttributes, reason: string): StatusError {
  const { user, verb, path, group, resource, subresource, namespace, name } = attributes;
  const why = reason === "" ? "" : `: ${reason}`;
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`;
  if (path !== "") {
    return new StatusError(403, "Forbidden", `forbidden: ${who} path ${JSON.stringify(path)}${why}`, {});
  }
  const whole = subresource === "" ? resource : `${resource}/${subresource}`;
  const qualified = group === "" ? resource : `${resource}.${group}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return new StatusError(
    403,
    "Forbidden",
    `${qualified}${name === "" ? "" : ` ${JSON.stringify(name)}`} is forbidden: ${who} resource ${JSON.stringify(whole)} in API group ${JSON.stringify(group)} ${where}${why}`,
    { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource },
  );
}
