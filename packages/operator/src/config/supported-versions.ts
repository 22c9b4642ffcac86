import { contractFor, isKnownTalos, tryParseVersion } from "@talos-operator/talos";

/** Talos minors that configurations are written for, oldest first. */
export const SUPPORTED_TALOS = ["1.5", "1.6", "1.7", "1.8", "1.9", "1.10", "1.11", "1.12", "1.13", "1.14"] as const;

/** True for a version of one of {@link SUPPORTED_TALOS}. */
export function isSupportedTalos(version: string): boolean {
  if (tryParseVersion(version) === undefined || !isKnownTalos(version)) return false;
  const contract = contractFor(version);
  return SUPPORTED_TALOS.some((supported) => supported === contract);
}
