/**
 * True for what a genuine API server says of a server-side apply with a field that the installed CRD does not declare: somebody else's CRD,
 * without what ours adds. It refuses the whole apply for it.
 *
 * @param field path such as `.spec.talosConfig`; absent: any field
 */
export function isUndeclaredField(thrown: unknown, field = ""): boolean {
  return thrown instanceof Error && thrown.message.includes(`${field}: field not declared in schema`);
}
