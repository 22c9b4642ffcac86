/**
 * Everything that needs no machine: configs, secrets, talosconfigs, schematics, versions. Loads neither gRPC nor protocol buffers, which take longer
 * to load than all of this: the machine API is `@talos-operator/talos/client`.
 */
export { ConfigError, isConfigError } from "./config/errors.ts";
export { canonicalMachineConfig } from "./config/canonical.ts";
export { describeMachineConfig } from "./config/describe.ts";
export { classifyConfigEffects } from "./config/effects/classify.ts";
export { barredEncryption } from "./config/effects/encryption.ts";
export type { BarredEncryption } from "./config/effects/encryption.ts";
export { configWithoutChanges } from "./config/effects/without-changes.ts";
export { removedAccess, removedFromMeta } from "./config/validate/hazards/removed.ts";
export { validateMachineConfig } from "./config/validate/validate.ts";
export { findForbiddenPatchPaths } from "./config/patch/forbidden-paths.ts";
export { patchMachineConfig } from "./config/patch/patch.ts";
export { redactMachineConfig } from "./config/redact.ts";
export { parseByteSize } from "./config/scalars/bytes.ts";
export { cidrContains, cidrsOverlap } from "./config/scalars/ip.ts";
export { generateMachineConfig } from "./config/generate/generate.ts";
export { parseEndpoint } from "./config/generate/check-input.ts";
export { refusalOfEndpoint } from "./config/validate/text/url.ts";
export { generateAdminKubeconfig } from "./kubeconfig/admin-kubeconfig.ts";
export { communityRefusal, parseSchematic } from "./schematic/parse.ts";
export { printSchematic, schematicId } from "./schematic/print.ts";
export { checkAuthority, checkSecretsBundle } from "./secrets/check.ts";
export { secretsBundleFromMachineConfig } from "./secrets/from-config.ts";
export { secretsBundleFromKubernetesPki } from "./secrets/from-kubernetes-pki.ts";
export { generateSecretsBundle } from "./secrets/generate.ts";
export { parseSecretsBundleJson, printSecretsBundleJson } from "./secrets/json.ts";
export { parseSecretsBundle } from "./secrets/parse.ts";
export { fingerprintSecretsBundle, printSecretsBundle } from "./secrets/print.ts";
export { signClientCertificate } from "./talosconfig/client-certificate.ts";
export { mergeTalosconfigs } from "./talosconfig/merge.ts";
export { parseTalosconfig } from "./talosconfig/parse.ts";
export { chooseTalosconfigPath, talosconfigPaths } from "./talosconfig/paths.ts";
export { printTalosconfig } from "./talosconfig/print.ts";
export { createTalosconfig } from "./talosconfig/talosconfig.ts";
export { builtInCatalogue, extendCatalogue } from "./upgrades/catalogue.ts";
export { planUpgrade } from "./upgrades/plan-upgrade.ts";
export { sayPlan } from "./upgrades/words.ts";
export { compareContracts, contractFor, featuresOf } from "./versions/contract.ts";
export { defaultClusterImages, imagesOfConfig, talosImages } from "./versions/component-images.ts";
export {
  defaultInstallerImage,
  defaultSchematicId,
  defaultTalosImage,
  kubernetesImages,
  isPlainSchematic,
  isSameSchematic,
  noSchematic,
  schematicOfImage,
} from "./versions/images.ts";
export {
  defaultKubernetesFor,
  isKnownTalos,
  kubernetesRange,
  kubernetesUpgradePath,
  supportsKubernetes,
  supportsTalosUpgrade,
} from "./versions/matrix.ts";
export { referenceTalosVersion } from "./versions/reference.ts";
export { compareVersions, parseVersion, tryParseVersion } from "./versions/version.ts";

export type { AuthorityFacts, MachineConfigFacts } from "./config/describe.ts";
export type { ConfigChange, ConfigEffect, ConfigEffects } from "./config/effects/effect.ts";
export type { ConfigErrorCode, ConfigPosition } from "./config/errors.ts";
export type { Endpoint } from "./config/generate/check-input.ts";
export type {
  CniInput,
  InstallInput,
  MachineConfigInput,
  MachineRole,
  NetworkInput,
  NetworkInterfaceInput,
  RegistryTlsInput,
  UserDiskInput,
} from "./config/generate/input.ts";
export type { Hazard, HazardCode } from "./config/validate/hazards/hazard.ts";
export type { RuntimeMode } from "./config/validate/rule-set.ts";
export type { ValidateOptions, Validation } from "./config/validate/validate.ts";
export type { ForbiddenPath } from "./config/patch/forbidden-paths.ts";
export type { RedactOptions } from "./config/redact.ts";
export type { PatchOptions } from "./config/patch/patch.ts";
export type { Bootloader, Schematic, SchematicCustomization, SchematicOverlay } from "./schematic/schematic.ts";
export type { SecretsBundle } from "./secrets/bundle.ts";
export type { BundleProblem } from "./secrets/check.ts";
export type { KubernetesPkiInput } from "./secrets/from-kubernetes-pki.ts";
export type { SecretsBundleInput } from "./secrets/generate.ts";
export type { ClientCertificateInput } from "./talosconfig/client-certificate.ts";
export type { MergedTalosconfig } from "./talosconfig/merge.ts";
export type { TalosconfigPath, TalosconfigPathInput } from "./talosconfig/paths.ts";
export type { Talosconfig, TalosconfigContext, TalosconfigInput } from "./talosconfig/talosconfig.ts";
export type { AdminKubeconfigInput } from "./kubeconfig/admin-kubeconfig.ts";
export type { ReleaseCatalogue } from "./upgrades/catalogue.ts";
export type {
  Build,
  Hop,
  KubernetesHop,
  MachineHop,
  Product,
  Refusal,
  TalosHop,
  UpgradeMachine,
  UpgradePlan,
  UpgradeWish,
} from "./upgrades/upgrade.ts";
export type { Contract, ContractFeatures } from "./versions/contract.ts";
export type { ClusterImages, ImageOverrides, TalosImages } from "./versions/component-images.ts";
export type { Verdict } from "./versions/matrix.ts";
export type { Version } from "./versions/version.ts";
