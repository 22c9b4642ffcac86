import type { TalosChannel, TalosCredentials, TalosDialer } from "@talos-operator/ports";

/** A channel as it was dialled, and where it leads. */
export interface Dialled {
  readonly address: string;
  readonly credentials: TalosCredentials;
  readonly channel: TalosChannel;
  /** The same way once more, for a call that outlives the channel. */
  readonly again: () => TalosChannel;
}

/** A dialer whose channels make the calls that `calls` gives; everything else goes as before. */
export function withCalls(real: TalosDialer, calls: (dialled: Dialled) => Partial<TalosChannel>): TalosDialer {
  return {
    dial(target, credentials) {
      const channel = real.dial(target, credentials);
      return {
        target,
        unary: (method, request, options) => channel.unary(method, request, options),
        serverStream: (method, request, options) => channel.serverStream(method, request, options),
        upload: (method, requests, options) => channel.upload(method, requests, options),
        peerSpki: () => channel.peerSpki(),
        close: () => channel.close(),
        ...calls({ address: target.address, credentials, channel, again: () => real.dial(target, credentials) }),
      };
    },
    reaches: (target, timeoutMs) => real.reaches(target, timeoutMs),
    hold: (target, options) => real.hold(target, options),
  };
}

/** The same for calls with one answer alone. */
export function withUnary(real: TalosDialer, unary: (dialled: Dialled) => TalosChannel["unary"]): TalosDialer {
  return withCalls(real, (dialled) => ({ unary: unary(dialled) }));
}
