/** Kubernetes' order of versions: stable before beta before alpha, higher numbers first, anything else last by name. */
export function compareVersions(a: string, b: string): number {
  const left = rank(a);
  const right = rank(b);
  if (left === undefined || right === undefined) {
    return left === right ? (a < b ? -1 : 1) : left === undefined ? 1 : -1;
  }
  return right[0] - left[0] || right[1] - left[1] || right[2] - left[2];
}

function rank(version: string): readonly [number, number, number] | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) {
    return undefined;
  }
  const stability = match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}
