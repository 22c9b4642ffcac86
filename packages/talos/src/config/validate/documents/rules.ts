import { identityOfDocument, type ConfigDocument } from "../../document/load.ts";
import { Report } from "../report.ts";
import type { RuleSet } from "../rule-set.ts";
import { bgpInstance } from "./bgp.ts";
import { container } from "./containers.ts";
import { discoveryRules } from "./discovery.ts";
import { imageRules } from "./images.ts";
import { kubernetesRules } from "./kubernetes.ts";
import { linkRules } from "./links.ts";
import { networkRules } from "./network.ts";
import type { DocumentRule } from "./rule.ts";
import { runtimeRules } from "./runtime.ts";
import { storageRules } from "./storage.ts";
import { volumeRules } from "./volumes.ts";

const documentRules: ReadonlyMap<string, DocumentRule> = new Map(
  Object.entries({
    ...discoveryRules,
    ...imageRules,
    ...kubernetesRules,
    ...linkRules,
    ...networkRules,
    ...runtimeRules,
    ...storageRules,
    ...volumeRules,
    BGPInstanceConfig: bgpInstance,
    ContainerConfig: container,
  }),
);

/** Kinds that have nothing that can be wrong beyond the types of their fields. */
export const kindsWithoutRules: ReadonlySet<string> = new Set([
  "ImageCacheConfig",
  "KubeAuditPolicyConfig",
  "KubeAuthenticationConfig",
  "KubeCoreDNSConfig",
  "KubeCredentialProviderConfig",
  "KubeSpanEndpointsConfig",
  "NetworkDefaultActionConfig",
  "PCIDriverRebindConfig",
  "SecurityProfileConfig",
  "TrustedRootsConfig",
  "UdevRulesConfig",
]);

/** Whether the documents of a kind are looked at. */
export function hasDocumentRule(kind: string): boolean {
  return documentRules.has(kind);
}

/** A document by itself. What is wrong with it becomes one error, under its kind and name. */
export function checkDocument(document: ConfigDocument, rules: RuleSet, report: Report): void {
  const { kind, name } = identityOfDocument(document);
  const own = new Report();
  documentRules.get(kind)?.(document.members, own, rules);
  const title = document.shape.isNamed ? `${kind}/${name}` : kind;
  if (own.errors.length > 0) report.error(`${title}: ${own.errors.join("\n")}`);
  for (const warning of own.warnings) report.warning(warning);
}
