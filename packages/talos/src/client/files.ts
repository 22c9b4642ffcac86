import { create } from "@bufbuild/protobuf";

import { ContainerDriver } from "../gen/common/common_pb.ts";
import { LogsRequestSchema, MachineService, ReadRequestSchema } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { byteStream, collectBytes } from "./byte-stream.ts";
import { READ_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";

export interface LogsInput {
  /** A service id, or for containers of Kubernetes `namespace/pod:container:id`. */
  readonly id: string;
  /** `system` for services, `k8s.io` for containers of Kubernetes. Default `system`. */
  readonly namespace?: "system" | "k8s.io";
  /** Keep the stream open for new lines. Default false. */
  readonly follow?: boolean;
  /** Last lines to begin with; default all that the machine keeps (1 MiB per service). 0 gives no history. */
  readonly tailLines?: number;
}

export interface FileCalls {
  /** A service's or container's log as bytes; chunks do not end at lines. Default deadline 600 s. */
  logs(input: LogsInput, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** A regular file of the machine as chunks. Needs `os:admin`. Default deadline 600 s. `NOT_FOUND` when missing. */
  read(path: string, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** A small text file, up to 1 MiB. Needs `os:admin`. Default deadline 10 s. */
  readText(path: string, options?: CallOptions): Promise<string>;
  /** Changes with each boot of the machine's kernel. Needs `os:admin`. Default deadline 10 s. */
  bootId(options?: CallOptions): Promise<string>;
}

const LOGS = methodOf(MachineService.method.logs);
const READ = methodOf(MachineService.method.read);
const MAX_TEXT_BYTES = 1024 * 1024;

export function fileCalls(caller: Caller): FileCalls {
  const readText: FileCalls["readText"] = async (path, options) => {
    const limits = { maxBytes: MAX_TEXT_BYTES, timeoutMs: READ_TIMEOUT_MS };
    return new TextDecoder().decode(await collectBytes(caller, READ, create(ReadRequestSchema, { path }), limits, options));
  };
  return {
    logs(input, options) {
      const namespace = input.namespace ?? "system";
      const request = create(LogsRequestSchema, {
        id: input.id,
        namespace,
        driver: namespace === "k8s.io" ? ContainerDriver.CRI : ContainerDriver.CONTAINERD,
        follow: input.follow ?? false,
        // The protocol's 0 means no history at all.
        tailLines: input.tailLines ?? -1,
      });
      return byteStream(caller, LOGS, request, options);
    },
    read(path, options) {
      return byteStream(caller, READ, create(ReadRequestSchema, { path }), options);
    },
    readText,
    async bootId(options) {
      return (await readText("/proc/sys/kernel/random/boot_id", options)).trim();
    },
  };
}
