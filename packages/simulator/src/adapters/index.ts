export { serveDatacenter } from "./serve-datacenter.ts";

export type { ServedDatacenter, ServeOptions } from "./serve-datacenter.ts";
