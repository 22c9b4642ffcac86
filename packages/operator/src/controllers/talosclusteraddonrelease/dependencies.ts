/** A release that another one waits for. */
export interface Dependency {
  readonly name: string;
  /** False where nobody has made it: an addon that is not there, or does not select this cluster. */
  readonly isThere: boolean;
}

/** What is waited for, then what would release it; `undefined` = nothing. */
export function waitsFor([first]: readonly Dependency[]): string | undefined {
  if (first === undefined) return undefined;
  const { name, isThere } = first;
  return isThere
    ? `TalosClusterAddonRelease ${name} is not Ready.`
    : `TalosClusterAddonRelease ${name} not found: its addon is not made, or does not select this cluster. Make it, let it select the cluster, or take it out of spec.dependsOn.`;
}
