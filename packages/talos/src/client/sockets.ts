import { create } from "@bufbuild/protobuf";

import {
  ConnectRecord_State as State,
  MachineService,
  NetstatRequest_Filter as Filter,
  NetstatRequestSchema,
} from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { READ_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";
import { enumWord } from "./reply.ts";

/** Which sockets of a machine to list. */
export interface SocketsInput {
  /** Default `all`. */
  readonly filter?: "all" | "connected" | "listening";
  /** Default `tcp`, `tcp6`, `udp` and `udp6`. */
  readonly protocols?: readonly SocketProtocol[];
  /** Whose process a socket is; costs the machine a look at all processes. Default false. */
  readonly withProcesses?: boolean;
  /** `host`, every namespace of the machine, or some by the names that `containers` knows. Default `host`. */
  readonly namespaces?: "host" | "all" | readonly string[];
}

/** A protocol above IP, with the version of IP where it is 6. */
export type SocketProtocol = "tcp" | "tcp6" | "udp" | "udp6" | "udplite" | "udplite6" | "raw" | "raw6";

/** One socket. */
export interface SocketFacts {
  /** As the machine writes it: `tcp`, `udp6`, ... */
  readonly protocol: string;
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  /** 0 for a socket that listens. */
  readonly remotePort: number;
  /** `established`, `listen`, `time-wait`, ..., as Linux names the states of TCP. */
  readonly state: string;
  readonly sendQueueBytes: number;
  readonly receiveQueueBytes: number;
  /** `undefined` when it was not asked for or the process is gone. */
  readonly process: { readonly pid: number; readonly name: string } | undefined;
  /** Network namespace; empty for the machine's own. */
  readonly namespace: string;
}

export interface SocketCalls {
  /** Open sockets of the machine. Default deadline 10 s. */
  sockets(input?: SocketsInput, options?: CallOptions): Promise<readonly SocketFacts[]>;
}

const NETSTAT = methodOf(MachineService.method.netstat);
const FILTERS = { all: Filter.ALL, connected: Filter.CONNECTED, listening: Filter.LISTENING } as const;
const PROTOCOLS: readonly SocketProtocol[] = ["tcp", "tcp6", "udp", "udp6"];

export function socketCalls(caller: Caller): SocketCalls {
  return {
    async sockets({ filter = "all", protocols = PROTOCOLS, withProcesses = false, namespaces = "host" } = {}, options) {
      const request = create(NetstatRequestSchema, {
        filter: FILTERS[filter],
        feature: { pid: withProcesses },
        l4proto: Object.fromEntries(protocols.map((protocol) => [protocol, true])),
        netns: {
          hostnetwork: namespaces === "host",
          allnetns: namespaces === "all",
          netns: typeof namespaces === "string" ? [] : [...namespaces],
        },
      });
      const { connectrecord } = await caller.one(NETSTAT, request, READ_TIMEOUT_MS, options);
      return connectrecord.map(({ process: owner, ...record }) => ({
        protocol: record.l4proto,
        localAddress: record.localip,
        localPort: record.localport,
        remoteAddress: record.remoteip,
        remotePort: record.remoteport,
        state: enumWord(State, record.state),
        sendQueueBytes: Number(record.txqueue),
        receiveQueueBytes: Number(record.rxqueue),
        process: owner === undefined ? undefined : { pid: owner.pid, name: owner.name },
        namespace: record.netns,
      }));
    },
  };
}
