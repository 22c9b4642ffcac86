import type { TalosCallFailure, TalosChannel, TalosDialer } from "@talos-operator/ports";

/**
 * Hands each dialled address to the machine that stands there now; open channels too. A control plane does not forward to such an address: the certificate
 * of the machine that stands there names another one.
 */
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
        unary: async (method, request, callOptions) => {
          refuseForwarding(callOptions.node, routes);
          return now().unary(method, request, callOptions);
        },
        async *serverStream(method, request, callOptions) {
          refuseForwarding(callOptions.node, routes);
          yield* now().serverStream(method, request, callOptions);
        },
        upload: (method, requests, callOptions) => now().upload(method, requests, callOptions),
        peerSpki: () => now().peerSpki(),
        close: () => channels.forEach((channel) => channel.close()),
      };
    },
    reaches: (target, timeoutMs) => real.reaches({ ...target, address: routes.get(target.address) ?? target.address }, timeoutMs),
    hold: (target, options) => real.hold({ ...target, address: routes.get(target.address) ?? target.address }, options),
  };
}

function refuseForwarding(node: string | undefined, routes: ReadonlyMap<string, string>): void {
  if (node === undefined || !routes.has(node)) return;
  const failure: TalosCallFailure = Object.assign(
    new Error(`tls: failed to verify certificate: x509: certificate is not valid for ${node}`),
    {
      name: "TalosCallFailure" as const,
      code: 14,
    },
  );
  throw failure;
}
