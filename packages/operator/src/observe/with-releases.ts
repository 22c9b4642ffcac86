import { factsOf } from "../record/facts.ts";
import type { Releases } from "../references/releases.ts";
import type { Observed } from "../model/observation.ts";

/** Releases are looked up where something is asked for that does not run: a settled cluster costs nothing. */
export async function withReleases(seen: Observed, releases: Releases): Promise<Observed> {
  return asksForAnother(seen) ? { ...seen, releases: await releases.read() } : seen;
}

function asksForAnother(seen: Observed): boolean {
  const runs = factsOf(seen)?.kubernetesVersion ?? "";
  if (runs === "") return false;
  if ((seen.controlPlane.spec?.kubeVersion ?? runs) !== runs) return true;
  return seen.machines.some(
    ({ declared, look }) => look.kind === "running" && look.version !== undefined && look.version !== declared.version,
  );
}
