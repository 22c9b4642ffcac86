export { systemClock, systemTimers, threadWorkedMs } from "./time.ts";
export { systemRandom } from "./random.ts";
export { createNameResolver } from "./names.ts";
export { createEndpointProbe } from "./endpoint-probe.ts";
export { createFileTree } from "./file-tree.ts";
export { createLogger } from "./logger.ts";
export { inspectCertificate } from "./x509/inspect.ts";
export { createX509Keys } from "./x509/keys.ts";

export type { LoggerOptions, LogLevel } from "./logger.ts";
export type { CertificateDetails } from "./x509/inspect.ts";
export type { X509Keys, X509KeysOptions } from "./x509/keys.ts";
