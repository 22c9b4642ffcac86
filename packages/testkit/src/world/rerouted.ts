import type { TalosChannel, TalosDialer } from "@talos-operator/ports";

/** Hands each dialled address to the machine that stands there now; open channels too. */
export function rerouted(real: TalosDialer, routes: ReadonlyMap<string, string>): TalosDialer {
  return {
    dial(target, credentials) {
      const channels = new Map<string, TalosChannel>();
      const now = (): TalosChannel => {
        const address = routes.get(target.address) ?? target.address;
        const channel = channels.get(address) ?? real.dial({ ...target, address }, credentials);
        channels.set(address, channel);
        return channel;
      };
      return {
        target,
        unary: (method, request, callOptions) => now().unary(method, request, callOptions),
        serverStream: (method, request, callOptions) => now().serverStream(method, request, callOptions),
        upload: (method, requests, callOptions) => now().upload(method, requests, callOptions),
        peerSpki: () => now().peerSpki(),
        close: () => channels.forEach((channel) => channel.close()),
      };
    },
  };
}
