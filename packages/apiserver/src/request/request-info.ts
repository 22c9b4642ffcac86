import { badRequest } from "./status.ts";

/** What a path names. */
export type RequestInfo =
  | { readonly kind: "other"; readonly path: string }
  | {
      readonly kind: "resource";
      readonly group: string;
      readonly version: string;
      /** Empty for cluster-scoped paths and lists over all namespaces. */
      readonly namespace: string;
      readonly plural: string;
      /** Empty for collections. */
      readonly name: string;
      /** Empty for the object itself. */
      readonly subresource: string;
      /** A path of the old kind that is a watch by itself (`/api/v1/watch/...`). */
      readonly isWatch?: true;
    };

/** Reads `/api/v1/...` and `/apis/<group>/<version>/...`; everything else, discovery included, is `other`. */
export function parseRequestInfo(path: string): RequestInfo {
  const segments = path.split("/").slice(1).map(decodeSegment);
  if (segments.at(-1) === "") {
    segments.pop();
  }
  const isCore = segments[0] === "api";
  if (!isCore && segments[0] !== "apis") {
    return { kind: "other", path };
  }
  const group = isCore ? "" : (segments[1] ?? "");
  const rest = segments.slice(isCore ? 1 : 2);
  const version = rest[0] ?? "";
  // No kind is called `watch`, and below this word stands what would stand without it.
  const isWatch = rest[1] === "watch" && rest.length > 2;
  let parts = rest.slice(isWatch ? 2 : 1);
  if (parts.length === 0) {
    return { kind: "other", path };
  }
  let namespace = "";
  // `/namespaces/<name>` itself, and its subresources, are about the Namespace object.
  const namespaceSubresources = ["status", "finalize"];
  if (parts[0] === "namespaces" && parts.length > 2 && !(parts.length === 3 && isCore && namespaceSubresources.includes(parts[2] ?? ""))) {
    namespace = parts[1] ?? "";
    parts = parts.slice(2);
  }
  // What follows a proxy is the path on its other side.
  if (parts.length > 3 && parts[2] !== "proxy") {
    return { kind: "other", path };
  }
  const [plural = "", name = "", subresource = ""] = parts;
  return { kind: "resource", group, version, namespace, plural, name, subresource, ...(isWatch ? { isWatch } : {}) };
}

function decodeSegment(segment: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch (cause) {
    throw Object.assign(badRequest(`the path segment ${JSON.stringify(segment.slice(0, 100))} is not valid percent-encoding`), { cause });
  }
  if (decoded === "." || decoded === ".." || decoded.includes("/") || decoded.includes("%") || decoded.includes("\0")) {
    throw badRequest(
      `the path segment ${JSON.stringify(decoded.slice(0, 100))} may not be used in a URL: it may not be '.' or '..' or contain '/' or '%'`,
    );
  }
  return decoded;
}
