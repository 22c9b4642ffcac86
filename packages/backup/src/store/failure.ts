import type { ObjectStoreFailure, ObjectStoreFailureKind } from "@talos-operator/ports";

/** An `ObjectStoreFailure`. The message is a sentence for people and holds no secret. */
export class StoreFailure extends Error implements ObjectStoreFailure {
  override readonly name = "ObjectStoreFailure";
  readonly kind: ObjectStoreFailureKind;

  constructor(kind: ObjectStoreFailureKind, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
  }
}

export function isStoreFailure(thrown: unknown, ...kinds: readonly ObjectStoreFailureKind[]): thrown is ObjectStoreFailure {
  return (
    thrown instanceof Error &&
    thrown.name === "ObjectStoreFailure" &&
    (kinds.length === 0 || kinds.includes((thrown as ObjectStoreFailure).kind))
  );
}
