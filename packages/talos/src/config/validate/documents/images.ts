import { isOn, mapAt, mapsAt, textAt } from "../access.ts";
import { checkRuntimeSpec } from "../v1alpha1/runtime-spec.ts";
import { checkQualifiedName } from "../v1alpha1/labels.ts";
import { pemBlocks, whyNotCertificate, whyNotPair, whyNotPkcs8Key } from "../text/pem.ts";
import { quoted } from "../text/quote.ts";
import { parseUrl } from "../text/url.ts";
import type { DocumentRule } from "./rule.ts";

const registryAuth: DocumentRule = (members, report) => {
  report.errorIf(textAt(members, "name") === "", "name must be specified");
  const hasUser = textAt(members, "username") !== "";
  const hasToken = textAt(members, "identityToken") !== "";
  report.errorIf(hasUser && hasToken, "only one of username/password or identityToken authentication can be specified");
  report.errorIf(
    textAt(members, "auth") !== "" && (hasUser || hasToken),
    "only one of auth, username/password or identityToken authentication can be specified",
  );
};

const registryMirror: DocumentRule = (members, report) => {
  report.errorIf(textAt(members, "name") === "", "name must be specified");
  mapsAt(members, "endpoints").forEach((endpoint, index) => {
    const parsed = textAt(endpoint, "url") === "" ? undefined : parseUrl(textAt(endpoint, "url"));
    if (parsed === undefined || "refusal" in parsed) return report.error(`endpoints[${index}].url must be specified`);
    const { scheme } = parsed.url;
    report.errorIf(!["http", "https"].includes(scheme), `endpoints[${index}].url has unsupported scheme: ${quoted(scheme)}`);
  });
};

const registryTls: DocumentRule = (members, report, { generation }) => {
  report.errorIf(textAt(members, "name") === "", "name must be specified");
  const ca = textAt(members, "ca");
  report.errorIf(ca !== "" && !hasCertificate(ca), "ca must be a valid PEM-encoded certificate");
  const identity = mapAt(members, "clientIdentity");
  if (identity === undefined) return;
  if (generation === "1.14") {
    const refusal = whyNotPair(identity);
    if (refusal !== undefined) report.error(`client identity: ${refusal}`);
    return;
  }
  const certificate = whyNotCertificate(textAt(identity, "cert"));
  if (certificate !== undefined) report.error(`client identity certificate is invalid: ${certificate}`);
  const key = whyNotPkcs8Key(textAt(identity, "key"));
  if (key !== undefined) report.error(`client identity key is invalid: ${key}`);
};

function hasCertificate(text: string): boolean {
  return pemBlocks(text).some(({ type, bytes }) => type === "CERTIFICATE" && whyNotCertificate(pemOf(bytes)) === undefined);
}

function pemOf(bytes: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${bytes.toString("base64")}\n-----END CERTIFICATE-----\n`;
}

const imageVerification: DocumentRule = (members, report) => {
  mapsAt(members, "rules").forEach((rule, index) => {
    const where = `rule ${index}:`;
    const image = textAt(rule, "image");
    const slash = image.indexOf("/");
    const ignored = "but matching only applies to the image registry and repository, not the tag or digest";
    report.errorIf(image === "", `${where} imagePattern must be specified`);
    if (image.includes("@")) report.warning(`${where} imagePattern contains '@' ${ignored}`);
    if (slash >= 0 && image.slice(slash).includes(":")) report.warning(`${where} imagePattern contains ':' ${ignored}`);
    if (slash < 0 && image !== "*" && image !== "") {
      report.warning(
        `${where} imagePattern does not contain a '/', image references like 'nginx' are matched as 'docker.io/nginx' (normalized)`,
      );
    }
    const isSkipped = isOn(rule, "skip");
    const isDenied = isOn(rule, "deny");
    const keyless = mapAt(rule, "keyless");
    const publicKey = mapAt(rule, "publicKey");
    const hasVerifier = keyless !== undefined || publicKey !== undefined;
    report.errorIf(isSkipped && isDenied, `${where} skip and deny cannot both be true`);
    report.errorIf((isSkipped || isDenied) && hasVerifier, `${where} verifiers cannot be configured if skip or deny is true`);
    report.errorIf(!isSkipped && !isDenied && !hasVerifier, `${where} at least one verifier must be configured`);
    report.errorIf(
      keyless !== undefined && publicKey !== undefined,
      `${where} only one of keyless or publicKey verifier can be configured`,
    );
    if (keyless !== undefined) {
      report.errorIf(textAt(keyless, "issuer") === "", `${where} verifier OIDC issuer must be specified`);
      report.errorIf(
        textAt(keyless, "subject") === "" && textAt(keyless, "subjectRegex") === "",
        `${where} verifier subject or subjectRegex must be specified`,
      );
    }
    if (publicKey !== undefined)
      report.errorIf(textAt(publicKey, "certificate") === "", `${where} verifier certificates must be specified`);
  });
};

const customization: DocumentRule = (members, report) => {
  const name = textAt(members, "name");
  const refusal = checkQualifiedName(name);
  if (refusal !== undefined) report.error(`invalid name: ${refusal}`);
};

/** Images, registries and the container runtime. */
export const imageRules: Readonly<Record<string, DocumentRule>> = {
  CRIBaseRuntimeSpecConfig: (members, report) => checkRuntimeSpec(mapAt(members, "overrides"), report),
  CRICustomizationConfig: customization,
  ImageVerificationConfig: imageVerification,
  RegistryAuthConfig: registryAuth,
  RegistryMirrorConfig: registryMirror,
  RegistryTLSConfig: registryTls,
};
