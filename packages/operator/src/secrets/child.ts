/** What stands under a key of something that was read from YAML; `undefined` where that is no mapping, or has no such key. */
export function child(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}
