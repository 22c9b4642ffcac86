/** The parts of a URL, kept as written. */
interface UrlParts {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

/** The text of a URL as Go prints it again, or `undefined` when Go refuses it: spaces, control characters, bad escapes, bad ports. */
export function tryNormalizeUrl(text: string): string | undefined {
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(text)) return undefined;
  const parts = split(text);
  if (parts === undefined) return undefined;
  if (/%(?![0-9a-fA-F]{2})/.test(parts.authority + parts.path) || /[\s"<>^`{|}\\]/.test(parts.authority)) return undefined;
  if (!/^(?:[^@]*@)?(?:\[[^\]]*\]|[^:[\]]*)(?::\d*)?$/.test(parts.authority)) return undefined;
  return join({ ...parts, path: parts.path.replace(/[\s"<>^`{|}\\]/g, (char) => encodeURIComponent(char)) });
}

/** A URL patched by another: each part that the patch has replaces that part, as Talos merges URLs. */
export function mergeUrls(left: string, right: string): string {
  const a = split(left);
  const b = split(right);
  if (a === undefined || b === undefined) return right;
  return join({
    scheme: b.scheme || a.scheme,
    authority: b.authority || a.authority,
    path: b.path || a.path,
    query: b.query || a.query,
    fragment: b.fragment || a.fragment,
  });
}

function split(text: string): UrlParts | undefined {
  const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(text);
  if (match === null) return undefined;
  const [, scheme = "", authority = "", path = "", query = "", fragment = ""] = match;
  if (scheme === "" && /^[^/]*:/.test(path)) return undefined;
  return { scheme: scheme.toLowerCase(), authority, path, query, fragment };
}

function join({ scheme, authority, path, query, fragment }: UrlParts): string {
  const start = `${scheme === "" ? "" : `${scheme}:`}${authority === "" ? "" : `//${authority}`}`;
  // Go puts a slash between a host and a path that begins without one.
  const gap = authority !== "" && path !== "" && !path.startsWith("/") ? "/" : "";
  return `${start}${gap}${path}${query === "" ? "" : `?${query}`}${fragment === "" ? "" : `#${fragment}`}`;
}
