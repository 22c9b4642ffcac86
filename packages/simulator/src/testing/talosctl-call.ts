import { create } from "@bufbuild/protobuf";
import type { DescMessage, DescMethod, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { TalosChannel } from "@talos-operator/ports";
import { TalosError } from "@talos-operator/talos/client";
import { methodOf } from "@talos-operator/talos/protocol";

/**
 * A call that talosctl makes and the typed client does not have. Returns the replies: one of a unary call, all of a stream.
 *
 * @throws TalosError as a call of the client does
 */
export async function talosctlCall<I extends DescMessage, O extends DescMessage>(
  channel: TalosChannel,
  descriptor: DescMethod & { readonly input: I; readonly output: O },
  request: MessageInitShape<I>,
): Promise<readonly MessageShape<O>[]> {
  const method = methodOf(descriptor);
  const message = create(descriptor.input, request);
  try {
    if (descriptor.methodKind === "unary") return [await channel.unary(method, message, { timeoutMs: 30_000 })];
    const replies: MessageShape<O>[] = [];
    for await (const reply of channel.serverStream(method, message, { timeoutMs: 600_000 })) replies.push(reply);
    return replies;
  } catch (thrown) {
    throw TalosError.from(thrown, { node: channel.target.address, method: method.path });
  }
}
