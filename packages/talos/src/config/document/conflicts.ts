import { ConfigError } from "../errors.ts";
import { identityOfDocument, type ConfigDocument } from "./load.ts";

/** Kinds whose names share one space: two of them must not have the same. */
const groups: readonly (readonly string[])[] = [
  ["BondConfig", "BridgeConfig", "DummyLinkConfig", "LinkConfig", "VLANConfig", "VRFConfig", "WireguardConfig", "VethConfig"],
  ["UserVolumeConfig", "ExistingVolumeConfig"],
  ["HCloudVIPConfig", "Layer2VIPConfig"],
];

/**
 * Refuses two documents that configure the same thing.
 *
 * @throws ConfigError `DUPLICATE_DOCUMENT`
 */
export function checkConflicts(documents: readonly ConfigDocument[]): void {
  const taken = new Map<string, string>();
  for (const document of documents) {
    const { kind, name } = identityOfDocument(document);
    const group = groups.findIndex((kinds) => kinds.includes(kind));
    if (group < 0) continue;
    const other = taken.get(`${group}/${name}`);
    if (other !== undefined) {
      throw new ConfigError("DUPLICATE_DOCUMENT", `conflicting documents: ${other}/${name} and ${kind}/${name}`, {
        document: `v1alpha1/${kind}/${name}`,
      });
    }
    taken.set(`${group}/${name}`, kind);
  }
}
