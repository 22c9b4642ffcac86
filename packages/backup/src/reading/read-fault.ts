/**
 * - `missing`: no such object
 * - `not-a-backup`: what is there is no snapshot; `keys`: it holds keys of a cluster, of which nothing is shown
 * - `no-identity`: encrypted, and nobody gave an identity; `bad-identity`: one of none of the recipients, or none at all
 * - `damaged`: not the bytes that were stored, or that etcd sent
 * - `too-large`: more than it may be unpacks from it
 * - `foreign`: a manifest of another cluster or backup, or changed since it was written; `newer`: of a later version of this operator
 */
export type ReadFaultKind =
  "missing" | "not-a-backup" | "keys" | "no-identity" | "bad-identity" | "damaged" | "too-large" | "foreign" | "newer";

/** Why a stored backup cannot be read. The message is a sentence without its end, and holds no secret. */
export class ReadFault extends Error {
  override readonly name = "ReadFault";
  readonly kind: ReadFaultKind;

  constructor(kind: ReadFaultKind, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
  }
}

export function isReadFault(thrown: unknown, ...kinds: readonly ReadFaultKind[]): thrown is ReadFault {
  return thrown instanceof ReadFault && (kinds.length === 0 || kinds.includes(thrown.kind));
}
