import { ConfigError } from "../errors.ts";
import { textAt } from "../validate/access.ts";
import { quoted } from "../validate/text/quote.ts";
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
  const links = new Map<string, string>();
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
    if (group === linkGroup) claimLinks(document, links);
  }
}

const linkGroup = 0;

/** A link is configured once, also where it is the other end of a pair. */
function claimLinks(document: ConfigDocument, claimed: Map<string, string>): void {
  const { kind, name } = identityOfDocument(document);
  const peers = kind === "VethConfig" ? [textAt(document.members, "peer", "name")] : [];
  for (const link of [name, ...peers]) {
    const owner = claimed.get(link);
    if (owner !== undefined) {
      const detail = `conflicting link configurations: ${owner} and ${kind}/${name} both configure ${quoted(link)}`;
      throw new ConfigError("DUPLICATE_DOCUMENT", detail, { document: `v1alpha1/${kind}/${name}` });
    }
    claimed.set(link, `${kind}/${name}`);
  }
}
