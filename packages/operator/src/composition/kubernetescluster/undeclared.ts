/**
 * True for what a genuine API server says of a server-side apply with a field that the installed CRD does not declare: somebody else's CRD, or an earlier one,
 * without what ours adds. It refuses the whole apply for it.
 *
 * @param field path such as `.spec.talosConfig`, and what is in it; absent: any field
 */
export function isUndeclaredField(thrown: unknown, field = ""): boolean {
  if (!(thrown instanceof Error)) return false;
  const paths = [...thrown.message.matchAll(/(\S*): field not declared in schema/g)].map(([, path = ""]) => path);
  return paths.some((path) => field === "" || path === field || path.startsWith(`${field}.`));
}
