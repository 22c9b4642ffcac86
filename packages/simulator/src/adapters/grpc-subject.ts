import { fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import type { DescMethod, JsonValue } from "@bufbuild/protobuf";
import { Client, credentials as grpcCredentials, Metadata } from "@grpc/grpc-js";
import type { ChannelCredentials, ClientReadableStream, ServiceError } from "@grpc/grpc-js";
import type { TalosCredentials } from "@talos-operator/ports";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConformanceSubject, Outcome, SubjectCall } from "../conformance/subject.ts";
import { methodDescriptors } from "../rpc/services-table.ts";
import { standardKey } from "./pem.ts";

export interface GrpcSubjectOptions {
  /** `127.0.0.2:50000` */
  readonly endpoints: Readonly<Record<SubjectCall["machine"], string>>;
  /** Credentials by the name in the transcripts; `undefined` = no client certificate. */
  readonly credentials: (who: string | undefined) => TalosCredentials;
  readonly start: (machine: SubjectCall["machine"]) => void;
  readonly hangMs: number;
  /** Machines that live faster than genuine ones need shorter pauses. Default 1. */
  readonly pauseFactor?: number;
}

/** Machines behind gRPC, simulated or genuine. Every call has a connection of its own, as in the recording. */
export function createGrpcSubject(options: GrpcSubjectOptions): ConformanceSubject {
  return {
    hangMs: options.hangMs,
    start: options.start,
    pause: async (ms) => {
      if (ms > 0) await sleep(ms * (options.pauseFactor ?? 1));
    },
    async call(call) {
      const client = new Client(options.endpoints[call.machine], channelCredentials(options.credentials(call.who)), {
        "grpc.use_local_subchannel_pool": 1,
      });
      try {
        return await send(client, call);
      } finally {
        client.close();
      }
    },
  };
}

function channelCredentials(credentials: TalosCredentials): ChannelCredentials {
  if (credentials.kind === "maintenance") return grpcCredentials.createSsl(null, null, null, { rejectUnauthorized: false });
  return grpcCredentials.createSsl(
    Buffer.from(credentials.ca),
    Buffer.from(standardKey(credentials.key)),
    Buffer.from(credentials.certificate),
  );
}

function send(client: Client, call: SubjectCall): Promise<Outcome> {
  const path = `/${call.method}`;
  const descriptor = methodDescriptors.get(path);
  const metadata = new Metadata();
  for (const [name, values] of Object.entries(call.metadata)) for (const value of values) metadata.add(name, value);
  const callOptions = { deadline: Date.now() + call.timeoutMs };
  const encode = (): Buffer => (descriptor === undefined ? Buffer.alloc(0) : bytesOf(descriptor, call));
  const decode = (bytes: Buffer): JsonValue => (descriptor === undefined ? null : jsonOf(descriptor, bytes));
  return new Promise((resolve) => {
    const responses: JsonValue[] = [];
    const end = (error?: ServiceError | null): void =>
      resolve(
        error === undefined || error === null
          ? { code: 0, message: "", responses }
          : { code: error.code, message: error.details, responses },
      );
    if (descriptor?.methodKind !== "server_streaming") {
      client.makeUnaryRequest(path, encode, decode, {}, metadata, callOptions, (error, value) => {
        if (value !== undefined) responses.push(value);
        end(error);
      });
      return;
    }
    const stream: ClientReadableStream<JsonValue> = client.makeServerStreamRequest(path, encode, decode, {}, metadata, callOptions);
    stream.on("data", (value: JsonValue) => {
      responses.push(value);
      if (responses.length !== call.take) return;
      end();
      stream.cancel();
    });
    stream.on("error", (error: ServiceError) => end(error));
    stream.on("end", () => end());
  });
}

function bytesOf(descriptor: DescMethod, call: SubjectCall): Buffer {
  return Buffer.from(toBinary(descriptor.input, fromJson(descriptor.input, call.request as JsonValue)));
}

function jsonOf(descriptor: DescMethod, bytes: Buffer): JsonValue {
  return toJson(descriptor.output, fromBinary(descriptor.output, bytes));
}
