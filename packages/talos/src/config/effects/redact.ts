import type { YamlValue } from "../yaml/emit.ts";
import type { YamlNode } from "../yaml/node.ts";

/** Names of fields whose values are shown to nobody, whatever document they stand in; below them nothing is shown either. */
const secretNames: ReadonlySet<string> = new Set([
  "aescbcEncryptionSecret",
  "apiToken",
  "auth",
  "clusterSecret",
  "contents",
  "content",
  "env",
  "environment",
  "extraManifestHeaders",
  "headers",
  "identityToken",
  "inlineManifests",
  "key",
  "manifest",
  "passphrase",
  "password",
  "pod",
  "pods",
  "presharedKey",
  "privateKey",
  "secret",
  "secretboxEncryptionSecret",
  "serviceAccount",
  "token",
  "uniqueToken",
  "variables",
  "webhook",
]);

/** Documents that are secret as a whole. */
const secretKinds: ReadonlySet<string> = new Set(["KubeEtcdEncryptionConfig", "KubeAuthenticationConfig", "CRICustomizationConfig"]);

/** What stands for a secret. */
export const hiddenText = "(secret)";

/** Whether values at a schema path are hidden. */
export function isSecretPath(kind: string, path: string): boolean {
  return secretKinds.has(kind) || path.split(".").some((step) => secretNames.has(step));
}

/** A scalar that may be shown: user, password and query of addresses are cut out, and texts that look like keys. */
export function shownText(text: string): string {
  if (/-----BEGIN |LS0tLS1CRUdJTi/.test(text)) return hiddenText;
  return text
    .replace(/([a-z][a-z0-9+.-]*:\/\/)([^/?#\s@]*@)/gi, `$1${hiddenText}@`)
    .replace(/([?&][^=\s&#]*=)[^&#\s]*/g, `$1${hiddenText}`);
}

/** A value without its secrets: members with a telling name, and texts as {@link shownText} has them. */
export function shownValue(node: YamlNode): YamlValue {
  switch (node.type) {
    case "scalar":
      return shownText(node.text);
    case "sequence":
      return node.items.map(shownValue);
    case "mapping":
      return new Map(node.entries.map(({ key, value }) => [key, secretNames.has(key) ? hiddenText : shownValue(value)]));
  }
}
