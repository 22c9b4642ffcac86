import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";

import { ClusterService, HealthCheckRequestSchema } from "../gen/cluster/cluster_pb.ts";
import { methodOf } from "../method-of.ts";
import { refusePartError } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";

/** Whose health is asked, and for how long the machine waits for it. */
export interface HealthInput {
  /** Default: what the machine has discovered. */
  readonly controlPlanes?: readonly string[];
  readonly workers?: readonly string[];
  /** Endpoint to use in place of the configured one, `https://host:port`. */
  readonly endpoint?: string;
  /** How long the machine waits for the cluster to become healthy. Default 300,000. */
  readonly waitMs?: number;
}

export interface HealthCalls {
  /**
   * Lets a control plane check the whole cluster: lines such as `waiting for etcd to be healthy: OK`. Ends when all is well.
   *
   * Deadline: `waitMs` and 10 s.
   *
   * @throws TalosError `DEADLINE_EXCEEDED` or `NODE_FAILED` when the cluster is not healthy in time, `UNIMPLEMENTED` on a worker
   */
  clusterHealth(input?: HealthInput, options?: CallOptions): AsyncIterable<string>;
}

const HEALTH_CHECK = methodOf(ClusterService.method.healthCheck);
const WAIT_MS = 300_000;
const GRACE_MS = 10_000;

export function healthCalls(caller: Caller): HealthCalls {
  return {
    async *clusterHealth(input, options) {
      const waitMs = input?.waitMs ?? WAIT_MS;
      const request = create(HealthCheckRequestSchema, {
        waitTimeout: durationFromMs(waitMs),
        clusterInfo: {
          controlPlaneNodes: [...(input?.controlPlanes ?? [])],
          workerNodes: [...(input?.workers ?? [])],
          forceEndpoint: input?.endpoint ?? "",
        },
      });
      const facts = { node: options?.node ?? caller.channel.target.address, method: HEALTH_CHECK.path };
      for await (const progress of caller.stream(HEALTH_CHECK, request, waitMs + GRACE_MS, options)) {
        refusePartError(progress, facts);
        yield progress.message;
      }
    },
  };
}
