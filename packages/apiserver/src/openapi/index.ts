export { openApiV2 } from "./v2.ts";
export { openApiV3, openApiV3Index } from "./v3.ts";
