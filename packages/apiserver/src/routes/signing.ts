import { isAllowed } from "../auth/authorize.ts";
import { equalJson } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, stringAt } from "../request/json.ts";
import { forbidden } from "../request/status.ts";
import type { ApiContext, ResourceCall } from "./context.ts";

const requests = "certificates.k8s.io/certificatesigningrequests";
const apiSigner = "kubernetes.io/kube-apiserver-client";

/**
 * Who approves a request, or signs it, must have the right to do so for its signer: `approve` or `sign` of `signers` in `certificates.k8s.io`.
 *
 * @param live the request before the write: what it names now counts for nothing
 * @throws 403
 */
export function admitSigning(context: ApiContext, call: ResourceCall, object: JsonObject, live: JsonObject): void {
  if (call.kind.resource !== requests || call.subresource === "") return;
  const isApproval = call.subresource === "approval";
  const certificate = (of: JsonObject): unknown => objectAt(of, "status")["certificate"];
  const conditions = (of: JsonObject): unknown => objectAt(of, "status")["conditions"];
  if (!isApproval && certificate(object) === certificate(live) && equalJson(conditions(object), conditions(live))) return;
  const signer = stringAt(objectAt(live, "spec"), "signerName") ?? "";
  const verb = isApproval ? "approve" : "sign";
  const { user } = call.request;
  const mayFor = (name: string): boolean =>
    isAllowed(
      { user, verb, group: "certificates.k8s.io", version: "*", resource: "signers", subresource: "", namespace: "", name, path: "" },
      context.authorize,
    ).allowed;
  // All signers of a domain can be given at once.
  if (mayFor(signer) || mayFor(`${signer.split("/")[0] ?? ""}/*`)) return;
  throw forbidden(call.kind, call.name, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}

/** Nobody becomes a member of `system:masters` by a certificate that the cluster signs. @throws 403 */
export function admitSubject(context: ApiContext, call: ResourceCall, object: JsonObject, name: string): void {
  const spec = objectAt(object, "spec");
  if (call.kind.resource !== requests || spec["signerName"] !== apiSigner) return;
  const { organizations } = context.readCertificateRequest(Buffer.from(stringAt(spec, "request") ?? "", "base64").toString("latin1"));
  if (organizations.includes("system:masters"))
    throw forbidden(call.kind, name, `use of ${apiSigner} signer with system:masters group is not allowed`);
}
