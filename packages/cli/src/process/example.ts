import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NAME = "examples/first-cluster/cluster.yaml";

/** Path of the example that the demo applies: in a checkout, or beside the bundle, where the build puts it. */
export function exampleManifest(): string {
  const bundled = fileURLToPath(new URL(NAME, import.meta.url));
  return existsSync(bundled) ? bundled : fileURLToPath(new URL(`../../../../${NAME}`, import.meta.url));
}
