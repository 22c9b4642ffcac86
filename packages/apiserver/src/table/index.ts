export { toPartialObjectMetadata, toPartialObjectMetadataList } from "./partial-metadata.ts";
export { toTable, type TableOptions } from "./table.ts";
