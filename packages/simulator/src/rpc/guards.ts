import { grpcStatus, RpcError } from "../datacenter/call.ts";
import type { ConfigFacts } from "../node/config-facts.ts";
import { activeFacts } from "../node/identity.ts";
import type { HandlerContext } from "./context.ts";

/** @throws RpcError UNIMPLEMENTED unless the machine is a control plane; also in maintenance, where it is none yet */
export function requireControlPlane(context: HandlerContext, what: string): ConfigFacts {
  const facts = activeFacts(context.cell.state);
  if (facts?.machineType !== "controlplane")
    throw new RpcError(grpcStatus.unimplemented, `${what} is only available on control plane nodes`);
  return facts;
}

/** @throws RpcError FAILED_PRECONDITION on platform `container` */
export function requireMachine(context: HandlerContext): void {
  if (context.cell.state.hardware.platform === "container") {
    throw new RpcError(grpcStatus.failedPrecondition, "method is not supported in container mode");
  }
}

/** A fresh actor id. */
export function actorId(context: HandlerContext): string {
  const hex = Buffer.from(context.world.random.bytes(16)).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Never, but for the caller giving up. */
export function forever(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(new RpcError(grpcStatus.cancelled, "context canceled"));
    if (signal.aborted) return end();
    signal.addEventListener("abort", end, { once: true });
  });
}
