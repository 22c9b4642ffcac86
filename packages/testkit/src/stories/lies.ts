import type { TalosChannel, TalosDialer } from "@talos-operator/ports";

/** What becomes of a machine's answer: the answer itself, changed in place or replaced. May refuse to ask by throwing. */
export type Lie = (answer: () => Promise<unknown>, machine: string) => Promise<unknown>;

/** Machines that tell lies, by the name of the call: `EtcdMemberList`. May be changed while a story is told. */
export function lying(lies: ReadonlyMap<string, Lie>): (real: TalosDialer) => TalosDialer {
  return (real) => ({
    dial(target, credentials) {
      const channel = real.dial(target, credentials);
      const unary: TalosChannel["unary"] = (method, request, options) => {
        const lie = lies.get(method.path.slice(method.path.lastIndexOf("/") + 1));
        const ask = (): ReturnType<typeof channel.unary<never, never>> => channel.unary(method, request, options) as never;
        return (lie === undefined ? ask() : lie(ask, options?.node ?? target.address)) as never;
      };
      return {
        target,
        unary,
        serverStream: (method, request, options) => channel.serverStream(method, request, options),
        upload: (method, requests, options) => channel.upload(method, requests, options),
        peerSpki: () => channel.peerSpki(),
        close: () => channel.close(),
      };
    },
  });
}
