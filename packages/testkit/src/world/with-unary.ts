import type { TalosChannel, TalosDialer } from "@talos-operator/ports";

/** Where a channel leads, and the channel as it was dialled. */
export interface Dialled {
  readonly address: string;
  readonly channel: TalosChannel;
  /** The same way once more, for a call that outlives the channel. */
  readonly again: () => TalosChannel;
}

/** A dialer whose channels make calls with one answer by `unary`; everything else goes as before. */
export function withUnary(real: TalosDialer, unary: (dialled: Dialled) => TalosChannel["unary"]): TalosDialer {
  return {
    dial(target, credentials) {
      const channel = real.dial(target, credentials);
      return {
        target,
        unary: unary({ address: target.address, channel, again: () => real.dial(target, credentials) }),
        serverStream: (method, request, options) => channel.serverStream(method, request, options),
        upload: (method, requests, options) => channel.upload(method, requests, options),
        peerSpki: () => channel.peerSpki(),
        close: () => channel.close(),
      };
    },
  };
}
