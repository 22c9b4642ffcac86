export { runManifestCorpus } from "./manifest-corpus.ts";
export type { CorpusDifference, CorpusSubject, KubeManifest, ManifestCase, Verdict } from "./manifest-corpus.ts";
export { corpusFolder, loadManifestCorpus } from "./adapters/load-corpus.ts";
