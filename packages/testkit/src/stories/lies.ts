import type { TalosDialer } from "@talos-operator/ports";
import { withUnary } from "../world/with-calls.ts";

/** What becomes of a machine's answer: the answer itself, changed in place or replaced. May refuse to ask by throwing. */
export type Lie = (answer: () => Promise<unknown>, machine: string) => Promise<unknown>;

/** Machines that tell lies, by the name of the call: `EtcdMemberList`. May be changed while a story is told. */
export function lying(lies: ReadonlyMap<string, Lie>): (real: TalosDialer) => TalosDialer {
  return (real) =>
    withUnary(real, ({ address, channel }) => (method, request, options) => {
      const lie = lies.get(method.path.slice(method.path.lastIndexOf("/") + 1));
      const ask = (): ReturnType<typeof channel.unary<never, never>> => channel.unary(method, request, options) as never;
      return (lie === undefined ? ask() : lie(ask, options?.node ?? address)) as never;
    });
}
