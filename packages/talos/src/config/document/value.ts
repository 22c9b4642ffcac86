import type { PlainScalar } from "../yaml/plain-scalar.ts";

/**
 * The value of a field, of a list item or of a whole document. What is absent has Go's zero value.
 *
 * Structs and maps are `Map`s; values with a codec are their canonical text; integers are bigint, numbers of free-form parts number, dates there
 * scalars that print without quotes.
 */
export type ConfigValue = string | boolean | number | bigint | null | PlainScalar | ConfigValue[] | ConfigMap;
export type ConfigMap = Map<string, ConfigValue>;
