/** What bytes begin with: what is to be undone before a database is there. */
export type StoredForm = "age" | "age-armored" | "zstd" | "database" | "manifest" | "empty" | "unknown";

/** So many bytes tell a form. */
export const HEAD_BYTES = 64;

const AGE = Buffer.from("age-encryption.org/v1\n");
const AGE_ARMORED = Buffer.from("-----BEGIN AGE ENCRYPTED FILE-----");
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** bbolt's, in the first meta page behind the page's header. */
const BOLT = Buffer.from([0xed, 0xda, 0x0c, 0xed]);
const BOLT_AT = 16;
const OPENING_BRACE = 0x7b;

/** @param head the first {@link HEAD_BYTES} bytes, or all where there are fewer */
export function formOf(head: Uint8Array): StoredForm {
  const has = (magic: Uint8Array, at = 0): boolean => magic.every((byte, index) => head[at + index] === byte);
  if (head.length === 0) return "empty";
  if (has(AGE)) return "age";
  if (has(AGE_ARMORED)) return "age-armored";
  if (has(ZSTD)) return "zstd";
  if (has(BOLT, BOLT_AT)) return "database";
  return head[0] === OPENING_BRACE ? "manifest" : "unknown";
}
