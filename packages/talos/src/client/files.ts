import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";

import { ContainerDriver } from "../gen/common/common_pb.ts";
import {
  DmesgRequestSchema,
  ListRequest_Type as FileType,
  ListRequestSchema,
  LogsRequestSchema,
  MachineService,
  ReadRequestSchema,
} from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { byteStream, collectBytes } from "./byte-stream.ts";
import { READ_TIMEOUT_MS, refusePartError, STREAM_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";

/** Which log to read, and from where. */
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

/** Which part of the log of the kernel to read. */
export interface DmesgInput {
  /** Keep the stream open for new messages. Default false. */
  readonly follow?: boolean;
  /** Only what comes, no history. Default false. */
  readonly tail?: boolean;
}

/** Which files of the machine to list. */
export interface ListInput {
  readonly root: string;
  /** Default false: only what is directly below. */
  readonly recurse?: boolean;
  /** Levels, with `recurse`; default all. */
  readonly depth?: number;
  /** Default all. */
  readonly types?: readonly ("regular" | "directory" | "symlink")[];
}

/** An entry below a folder. One that cannot be read has an `error` in place of the rest. */
export interface FileFacts {
  readonly name: string;
  readonly relativeName: string;
  readonly sizeBytes: number;
  /** Go's file mode: permissions in the low nine bits. */
  readonly mode: number;
  /** Milliseconds since the epoch; resolution one second. */
  readonly modifiedAt: number;
  readonly isDirectory: boolean;
  /** Target of a symbolic link; empty otherwise. */
  readonly link: string;
  readonly uid: number;
  readonly gid: number;
  /** Empty when there is none. */
  readonly error: string;
}

export interface FileCalls {
  /** The kernel's log as bytes, one formatted line per message. Default deadline 600 s. */
  dmesg(input?: DmesgInput, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Files below a folder, as they are found. Default deadline 600 s. */
  list(input: ListInput, options?: CallOptions): AsyncIterable<FileFacts>;
  /** A service's or container's log as bytes; chunks do not end at lines. Default deadline 600 s. */
  logs(input: LogsInput, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Ids whose logs the machine keeps, for `logs`. Talos 1.7. Default deadline 10 s. */
  logsContainers(options?: CallOptions): Promise<readonly string[]>;
  /** A small text file, up to 1 MiB. Needs `os:admin`. Default deadline 10 s. `NOT_FOUND` when missing. */
  readText(path: string, options?: CallOptions): Promise<string>;
  /** Changes with each boot of the machine's kernel. Needs `os:admin`. Default deadline 10 s. */
  bootId(options?: CallOptions): Promise<string>;
}

const LOGS = methodOf(MachineService.method.logs);
const LOGS_CONTAINERS = methodOf(MachineService.method.logsContainers);
const READ = methodOf(MachineService.method.read);
const DMESG = methodOf(MachineService.method.dmesg);
const LIST = methodOf(MachineService.method.list);
const FILE_TYPES: Readonly<Record<NonNullable<ListInput["types"]>[number], FileType>> = {
  regular: FileType.REGULAR,
  directory: FileType.DIRECTORY,
  symlink: FileType.SYMLINK,
};
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
    async logsContainers(options) {
      return (await caller.one(LOGS_CONTAINERS, create(EmptySchema), READ_TIMEOUT_MS, options)).ids;
    },
    dmesg(input, options) {
      const request = create(DmesgRequestSchema, { follow: input?.follow ?? false, tail: input?.tail ?? false });
      return byteStream(caller, DMESG, request, options);
    },
    async *list(input, options) {
      const request = create(ListRequestSchema, {
        root: input.root,
        recurse: input.recurse ?? false,
        recursionDepth: input.depth ?? 0,
        types: (input.types ?? []).map((type) => FILE_TYPES[type]),
      });
      const facts = { node: options?.node ?? caller.channel.target.address, method: LIST.path };
      for await (const file of caller.stream(LIST, request, STREAM_TIMEOUT_MS, options)) {
        refusePartError(file, facts);
        yield {
          name: file.name,
          relativeName: file.relativeName,
          sizeBytes: Number(file.size),
          mode: file.mode,
          modifiedAt: Number(file.modified) * 1000,
          isDirectory: file.isDir,
          link: file.link,
          uid: file.uid,
          gid: file.gid,
          error: file.error,
        };
      }
    },
    readText,
    async bootId(options) {
      return (await readText("/proc/sys/kernel/random/boot_id", options)).trim();
    },
  };
}
