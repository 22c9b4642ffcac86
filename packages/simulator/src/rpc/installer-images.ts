import { supportsTalosUpgrade } from "@talos-operator/talos";

/** What the installer says instead of installing `to` over `from`; `undefined` when it installs. */
export function preflightRefusal(from: string, to: string): string | undefined {
  const verdict = supportsTalosUpgrade(from, to);
  return verdict.ok ? undefined : `error running preflight checks: ${verdict.reason}`;
}
