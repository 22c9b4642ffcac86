export { toPartialObjectMetadata, toPartialObjectMetadataList } from "./partial-metadata.ts";
export { toTable } from "./table.ts";
