export { runManifestCorpus } from "./manifest-corpus.ts";
export type { CorpusDifference, CorpusSubject, KubeManifest, ManifestCase, Verdict } from "./manifest-corpus.ts";
export { corpusFolder, loadManifestCorpus } from "./adapters/load-corpus.ts";
export { widenedManifests } from "./adapters/widened-manifests.ts";
export { assertRecordRule, recordRuleCases } from "./record-rules.ts";
export type { RecordRuleCase } from "./record-rules.ts";
