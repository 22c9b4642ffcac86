export { openSnapshotFile, type SnapshotFile } from "./snapshot-file.ts";
export { createFileSpool, type FileSpool, type FileSpoolOptions } from "./file-spool.ts";
