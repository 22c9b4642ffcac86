export { createApiServer } from "./server.ts";
export type { ApiServer, ApiServerOptions, RequestRecord } from "./server.ts";
export { createMemoryStore } from "./store/memory-store.ts";
export type { Store, StoreContent, StoredEntry, StoreWrite } from "./store/store.ts";
export type { ApiAnswer, ApiRequest, ApiStream, ApiUser, ApiWatchEvent } from "./request/request.ts";
export type { AccessAttributes, AuthenticateToken, Authorize } from "./auth/authorize.ts";
export type { TokenUser } from "./auth/tokens.ts";
export { ApiServerError } from "./api-server-error.ts";
export type { ApiServerErrorCode } from "./api-server-error.ts";
