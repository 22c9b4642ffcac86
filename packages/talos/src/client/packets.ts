import { create } from "@bufbuild/protobuf";

import { MachineService, PacketCaptureRequestSchema } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { byteStream } from "./byte-stream.ts";
import type { Caller, CallOptions } from "./call.ts";

/** Which packets to record. */
export interface PacketCaptureInput {
  /** Link, `eth0`. */
  readonly interface: string;
  /** Also packets for others. Default false. */
  readonly promiscuous?: boolean;
  /** Bytes kept of each packet. Default 4096. */
  readonly snapLength?: number;
  /** Instructions of a classic BPF program; the machine does not compile expressions. Default: every packet. */
  readonly filter?: readonly { readonly op: number; readonly jt: number; readonly jf: number; readonly k: number }[];
}

export interface PacketCalls {
  /** Packets in the pcap format, until the deadline (default 600 s) or until the loop is left. Needs `os:operator`. */
  packetCapture(input: PacketCaptureInput, options?: CallOptions): AsyncIterable<Uint8Array>;
}

const PACKET_CAPTURE = methodOf(MachineService.method.packetCapture);
const SNAP_LENGTH = 4_096;

export function packetCalls(caller: Caller): PacketCalls {
  return {
    packetCapture(input, options) {
      const request = create(PacketCaptureRequestSchema, {
        interface: input.interface,
        promiscuous: input.promiscuous ?? false,
        snapLen: input.snapLength ?? SNAP_LENGTH,
        bpfFilter: (input.filter ?? []).map(({ op, jt, jf, k }) => ({ op, jt, jf, k })),
      });
      return byteStream(caller, PACKET_CAPTURE, request, options);
    },
  };
}
