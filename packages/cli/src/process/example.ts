import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { SimulatedAddress } from "./first-address.ts";
import { readManifest, type ManifestObject } from "./manifest.ts";

/** The example's addresses, and which one of them. */
const ADDRESS = /\b127\.1\.0\.(\d{1,3})\b/g;
const NAME = "examples/first-cluster/cluster.yaml";

/** Path of the example that the demo applies: in a checkout, or beside the bundle, where the build puts it. */
export function exampleManifest(): string {
  const bundled = fileURLToPath(new URL(NAME, import.meta.url));
  return existsSync(bundled) ? bundled : fileURLToPath(new URL(`../../../../${NAME}`, import.meta.url));
}

/** The example, at the addresses of the simulated machines. */
export function readExample(addressOf: SimulatedAddress): readonly ManifestObject[] {
  return readManifest(exampleManifest(), (text) => text.replaceAll(ADDRESS, (_, n: string) => addressOf(Number(n))));
}
