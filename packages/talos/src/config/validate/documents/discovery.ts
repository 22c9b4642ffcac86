import { textAt } from "../access.ts";
import { decodedLength } from "../text/base64.ts";
import { hostnameOf, parseUrl } from "../text/url.ts";
import type { DocumentRule } from "./rule.ts";

const service: DocumentRule = (members, report) => {
  if (textAt(members, "name") === "") return report.error("name is required");
  const parsed = textAt(members, "endpoint") === "" ? undefined : parseUrl(textAt(members, "endpoint"));
  if (parsed === undefined || "refusal" in parsed) return report.error("endpoint is required");
  const { scheme } = parsed.url;
  if (scheme === "") return report.error("endpoint scheme is required");
  if (!["http", "https", "grpc"].includes(scheme)) return report.error("endpoint scheme must be http://, https:// or grpc://");
  report.errorIf(hostnameOf(parsed.url) === "", "endpoint host is required");
};

/** The secret of a cluster is not repeated in what is said of it, though Talos does. */
const identity: DocumentRule = (members, report) => {
  if (textAt(members, "clusterID") === "") return report.error("clusterID is required");
  const secret = textAt(members, "clusterSecret");
  if (secret === "") return report.error("clusterSecret is required");
  const decoded = decodedLength(secret);
  if ("refusal" in decoded) return report.error(`invalid clusterSecret: failed to decode from base64: (secret); ${decoded.refusal}`);
  report.errorIf(decoded.bytes !== 32, `invalid clusterSecret: expected 32 bytes, got ${decoded.bytes}: (secret)`);
};

/** How members find each other. */
export const discoveryRules: Readonly<Record<string, DocumentRule>> = {
  DiscoveryIdentityConfig: identity,
  DiscoveryServiceConfig: service,
};
