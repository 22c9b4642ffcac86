import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMethod, MessageShape } from "@bufbuild/protobuf";
import type { MethodDefinition } from "@grpc/grpc-js";
import { methodDescriptors } from "../rpc/services-table.ts";

/** An RPC in the form grpc-js takes; messages are those of the generated protocol. */
export type Definition = MethodDefinition<unknown, unknown> & { readonly path: string };

/** Every RPC that the servers know by name. */
export const definitions: readonly Definition[] = [...methodDescriptors].map(([path, descriptor]) => definitionOf(path, descriptor));

function definitionOf(path: string, descriptor: DescMethod): Definition {
  const { input, output, methodKind } = descriptor;
  return {
    path,
    requestStream: methodKind === "client_streaming" || methodKind === "bidi_streaming",
    responseStream: methodKind === "server_streaming" || methodKind === "bidi_streaming",
    requestSerialize: (message) => Buffer.from(toBinary(input, message as MessageShape<typeof input>)),
    requestDeserialize: (bytes) => fromBinary(input, bytes),
    responseSerialize: (message) => Buffer.from(toBinary(output, message as MessageShape<typeof output>)),
    responseDeserialize: (bytes) => fromBinary(output, bytes),
  };
}
