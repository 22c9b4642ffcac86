import { firstPartOf } from "./first-part.ts";
import { newHazards } from "./hazards.ts";
import type { HazardPlace } from "./hazards.ts";
import type { Differing, KnownConfig } from "../model/config.ts";

/** Most changes that are kept of one machine. */
export const MAX_CHANGES = 100;

/** What is known of a change beside the change itself. */
interface ChangeGuard {
  /** What is tried first, where the rest needs a boot. Holds keys. */
  readonly firstPart: string | undefined;
  readonly seen: Pick<KnownConfig, "firstPart" | "hazards">;
}

/** What of a change is tried first, and what holds it back. */
export function guardOf(
  texts: Parameters<typeof firstPartOf>[0],
  { addresses, ...place }: Omit<HazardPlace, "addresses"> & { readonly addresses: ReadonlySet<string> },
): ChangeGuard {
  if (texts.changes.length === 0) return { firstPart: undefined, seen: {} };
  const first = firstPartOf(texts, { ...place, addresses });
  const hazards = newHazards(texts.wanted, texts.live, place);
  return {
    firstPart: first?.text,
    seen: {
      ...(first === undefined ? {} : { firstPart: first.changes.slice(0, MAX_CHANGES) }),
      ...(hazards.length === 0 ? {} : { hazards }),
    },
  };
}

/** The host name that runs and the one that is wanted, where they differ. */
export function differingName(runs = "", asked = ""): { readonly hostname?: Differing<string> } {
  return runs === asked ? {} : { hostname: { runs, asked } };
}
