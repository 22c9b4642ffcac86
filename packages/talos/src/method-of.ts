import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, DescMethod, MessageShape } from "@bufbuild/protobuf";
import type { TalosMethod } from "@talos-operator/ports";

/**
 * The RPC that a generated descriptor describes, in the form a channel takes.
 *
 * Unknown fields and enum values of a newer Talos are kept by the message and do not fail.
 *
 * @throws (from `decode`) Error when the bytes are no such message
 */
export function methodOf<I extends DescMessage, O extends DescMessage>(
  descriptor: DescMethod & { readonly input: I; readonly output: O },
): TalosMethod<MessageShape<I>, MessageShape<O>> {
  return {
    path: `/${descriptor.parent.typeName}/${descriptor.name}`,
    encode: (request) => toBinary(descriptor.input, request),
    decode: (bytes) => fromBinary(descriptor.output, bytes),
  };
}
