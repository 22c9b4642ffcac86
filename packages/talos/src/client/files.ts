import { create } from "@bufbuild/protobuf";

import { ContainerDriver } from "../gen/common/common_pb.ts";
import {
  CopyRequestSchema,
  DiskUsageRequestSchema,
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

/** Which files and folders to measure. */
export interface DiskUsageInput {
  readonly paths: readonly string[];
  /** Files too, not only folders. Default false. */
  readonly all?: boolean;
  /** Levels that are reported; default 0, the paths themselves. */
  readonly depth?: number;
  /** Leaves out what is smaller; default 0. */
  readonly thresholdBytes?: number;
}

/** What one file or folder takes. */
export interface DiskUsageFacts {
  readonly name: string;
  readonly relativeName: string;
  readonly sizeBytes: number;
  /** Empty when there is none. */
  readonly error: string;
}

export interface FileCalls {
  /** The kernel's log as bytes, one formatted line per message. Default deadline 600 s. */
  dmesg(input?: DmesgInput, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Files below a folder, as they are found. Default deadline 600 s. */
  list(input: ListInput, options?: CallOptions): AsyncIterable<FileFacts>;
  /** What folders use. Default deadline 600 s. */
  diskUsage(input: DiskUsageInput, options?: CallOptions): AsyncIterable<DiskUsageFacts>;
  /** A file or folder as a gzip tar archive, for example `/sys/fs/cgroup`. Needs `os:admin`. Default deadline 600 s. */
  copy(path: string, options?: CallOptions): AsyncIterable<Uint8Array>;
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
const DMESG = methodOf(MachineService.method.dmesg);
const LIST = methodOf(MachineService.method.list);
const DISK_USAGE = methodOf(MachineService.method.diskUsage);
const COPY = methodOf(MachineService.method.copy);
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
    read(path, options) {
      return byteStream(caller, READ, create(ReadRequestSchema, { path }), options);
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
    async *diskUsage(input, options) {
      const request = create(DiskUsageRequestSchema, {
        paths: [...input.paths],
        all: input.all ?? false,
        recursionDepth: input.depth ?? 0,
        threshold: BigInt(input.thresholdBytes ?? 0),
      });
      const facts = { node: options?.node ?? caller.channel.target.address, method: DISK_USAGE.path };
      for await (const usage of caller.stream(DISK_USAGE, request, STREAM_TIMEOUT_MS, options)) {
        refusePartError(usage, facts);
        yield { name: usage.name, relativeName: usage.relativeName, sizeBytes: Number(usage.size), error: usage.error };
      }
    },
    copy(path, options) {
      return byteStream(caller, COPY, create(CopyRequestSchema, { rootPath: path }), options);
    },
    readText,
    async bootId(options) {
      return (await readText("/proc/sys/kernel/random/boot_id", options)).trim();
    },
  };
}
