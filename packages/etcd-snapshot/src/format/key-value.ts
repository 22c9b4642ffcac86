import { fieldsOf } from "./protobuf.ts";

/** A value of the bucket `key`: etcd's `mvccpb.KeyValue`, as far as it is looked at here. */
export interface KeyValue {
  readonly key: Uint8Array;
  readonly createRevision: number;
  readonly modRevision: number;
  /** How often it was written since it was created; 0 for a deletion. */
  readonly version: number;
  readonly value: Uint8Array;
}

const nothing = new Uint8Array(0);

/** `undefined` for bytes that are no such message. etcd writes the key once and first: one that stands later comes of damage. */
export function readKeyValue(message: Uint8Array): KeyValue | undefined {
  let key: Uint8Array = nothing;
  let value: Uint8Array = nothing;
  let createRevision = 0;
  let modRevision = 0;
  let version = 0;
  let isFirst = true;
  for (const field of fieldsOf(message)) {
    if (field === undefined) return undefined;
    if (field.number === 1) {
      if (field.bytes === undefined || !isFirst) return undefined;
      key = field.bytes;
    } else if (field.number === 2) createRevision = field.value;
    else if (field.number === 3) modRevision = field.value;
    else if (field.number === 4) version = field.value;
    else if (field.number === 5) {
      if (field.bytes === undefined) return undefined;
      value = field.bytes;
    }
    isFirst = false;
  }
  return { key, createRevision, modRevision, version, value };
}
