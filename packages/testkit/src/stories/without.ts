import type { TalosCredentials, TalosDialer } from "@talos-operator/ports";
import { withUnary } from "../world/with-calls.ts";

/** Machines that cannot be reached by some calls while `isHeld()`. */
export function without(
  isLost: (method: string, credentials: TalosCredentials) => boolean,
  isHeld: () => boolean,
): (real: TalosDialer) => TalosDialer {
  return (real) =>
    withUnary(
      real,
      ({ credentials, channel }) =>
        (method, request, options) =>
          isHeld() && isLost(method.path, credentials)
            ? Promise.reject(Object.assign(new Error("connection reset"), { name: "TalosCallFailure" as const, code: 14 }))
            : channel.unary(method, request, options),
    );
}
