export { serveHttps } from "./https-server.ts";
export type { HttpsFrontEnd, HttpsOptions } from "./https-server.ts";
export type { HttpLimits } from "./http-limits.ts";
export { createSqliteStore } from "./sqlite-store.ts";
export { openLock } from "./sqlite-lock.ts";
export type { Durability, SqliteStoreOptions } from "./sqlite-file.ts";
export { ApiServerError } from "../api-server-error.ts";
export type { ApiServerErrorCode } from "../api-server-error.ts";
