import type { ObjectMeta } from "@talos-operator/api";

/** True when the first object was there before the second; of two made in one second the smaller UID was. */
export function isOlder({ metadata: a }: { readonly metadata: ObjectMeta }, { metadata: b }: { readonly metadata: ObjectMeta }): boolean {
  const [x = "", y = ""] = [a.creationTimestamp, b.creationTimestamp];
  return x < y || (x === y && (a.uid ?? "") < (b.uid ?? ""));
}
