import type { TalosDialer } from "@talos-operator/ports";

import { createGrpcChannel } from "./grpc-channel.ts";
import { hold } from "./hold.ts";
import { reaches } from "./reaches.ts";

/**
 * Dials machines over gRPC with TLS 1.2 or newer.
 *
 * `dial` opens nothing; the first call connects. Messages are limited to 32 MiB in both directions.
 *
 * @throws Error (from `dial`) when a certificate or key cannot be read
 */
export function createGrpcDialer(): TalosDialer {
  return { dial: createGrpcChannel, reaches, hold };
}
