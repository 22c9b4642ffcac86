export { serveS3 } from "./serve-s3.ts";

export type { S3EndpointOptions, ServedS3 } from "./serve-s3.ts";
