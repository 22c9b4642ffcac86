import type { TalosCredentials, TalosDialer } from "@talos-operator/ports";

/** Machines that cannot be reached by some calls while `isHeld()`. */
export function without(
  isLost: (method: string, credentials: TalosCredentials) => boolean,
  isHeld: () => boolean,
): (real: TalosDialer) => TalosDialer {
  return (real) => ({
    dial(target, credentials) {
      const channel = real.dial(target, credentials);
      return {
        ...channel,
        target,
        unary: (method, request, options) =>
          isHeld() && isLost(method.path, credentials)
            ? Promise.reject(Object.assign(new Error("connection reset"), { name: "TalosCallFailure" as const, code: 14 }))
            : channel.unary(method, request, options),
        serverStream: (method, request, options) => channel.serverStream(method, request, options),
        upload: (method, requests, options) => channel.upload(method, requests, options),
        peerSpki: () => channel.peerSpki(),
        close: () => channel.close(),
      };
    },
  });
}
