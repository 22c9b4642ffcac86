import type { SecretsBundle } from "./bundle.ts";
import { bundleOfParts } from "./parts.ts";
import { readBundleParts } from "./read.ts";

/**
 * Reads the text of `secrets.yaml`. Fields that we do not know are kept and printed again; everything that a cluster needs must be there.
 *
 * PEM texts are not looked into, because in simulation they are value tokens: {@link checkSecretsBundle} does that.
 *
 * @throws ConfigError `INVALID_BUNDLE` with all that is missing, `WRONG_TYPE`, `INVALID_VALUE`, `NOT_A_DOCUMENT`, and the codes of reading YAML
 */
export function parseSecretsBundle(text: string): SecretsBundle {
  return bundleOfParts(readBundleParts(text, "1.14"));
}
