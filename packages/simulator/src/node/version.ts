/** True when `version` (`v1.13.9`, `1.14.0-rc.1`) is of `minor` (`1.13`) or a later one; pre-releases count as their minor. */
export function isAtLeast(version: string, minor: string): boolean {
  const [major, second] = numbers(version);
  const [wantMajor, wantSecond] = numbers(minor);
  return major > wantMajor || (major === wantMajor && second >= wantSecond);
}

/** The same for a patch release (`1.13.6`); its pre-releases count as it. */
export function isAtLeastRelease(version: string, release: string): boolean {
  const minor = release.slice(0, release.lastIndexOf("."));
  const [major, second] = numbers(version);
  const [wantMajor, wantSecond] = numbers(minor);
  if (major !== wantMajor || second !== wantSecond) return isAtLeast(version, minor);
  return Number(/^v?\d+\.\d+\.(\d+)/.exec(version)?.[1] ?? 0) >= Number(release.slice(minor.length + 1));
}

function numbers(version: string): [number, number] {
  const match = /^v?(\d+)\.(\d+)/.exec(version);
  return [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
}

const etcdMinors = new Map<string, number>();

/** Minor of that etcd 3. */
export function etcdMinorOf(talosVersion: string): number {
  const known = etcdMinors.get(talosVersion);
  if (known !== undefined) return known;
  const minor = Number(etcdVersionOf(talosVersion).split(".")[1]);
  etcdMinors.set(talosVersion, minor);
  return minor;
}

/** The etcd that a Talos release runs by default. */
export function etcdVersionOf(talosVersion: string): string {
  if (isAtLeast(talosVersion, "1.14")) return "3.7.1";
  return isAtLeast(talosVersion, "1.11") ? "3.6.12" : "3.5.22";
}
