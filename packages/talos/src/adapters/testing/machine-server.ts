/** A gRPC server on a loopback port that answers `Version` and COSI `Get`, streams `Read`, and counts what reaches it. For tests. */
import { EventEmitter } from "node:events";

import { create, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { sendUnaryData, ServerReadableStream, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import type { KeyPair } from "@talos-operator/ports";

import { opensslKey } from "../pem.ts";
import { cosi, machine } from "../../protocol.ts";

export interface MachineServer {
  readonly port: number;
  /** Paths of the calls that arrived. */
  readonly calls: string[];
  /** `node` metadata of each call that arrived. */
  readonly nodes: (string | undefined)[];
  /** Streams that a client left before they ended. */
  readonly canceled: string[];
  /** Bytes of endless answers that were given to the transport. */
  sentBytes(): number;
  /** Messages of `EtcdRecover`, encoded. */
  readonly uploaded: readonly Uint8Array[];
  /** Emits `canceled` with each of them, and `uploaded` with each message of an upload. */
  readonly events: EventEmitter;
  /** Connections that carried a call. */
  connections(): number;
  close(): void;
}

export interface MachineServerOptions {
  readonly certificate: KeyPair;
  /** With it a client certificate is required. */
  readonly clientAuthority?: string;
  readonly address?: string;
  /** Port 0 asks the system for one. */
  readonly port?: number;
  /** Bytes of the answer to `Version`; default a valid one. */
  readonly versionReply?: () => Uint8Array | "never";
  /** Answers `EtcdRecover` before its first message. */
  readonly refuseUpload?: boolean;
  /** Answer of `Read`: chunks, endless when "endless". */
  readonly readReply?: readonly Uint8Array[] | "endless";
  /** One message of an endless answer, encoded; default an empty one. */
  readonly endlessChunk?: Uint8Array;
}

const VERSION_REPLY = toBinary(
  machine.VersionResponseSchema,
  create(machine.VersionResponseSchema, { messages: [{ version: { tag: "v1.13.9", os: "linux", arch: "amd64" } }] }),
);

const RECOVER_REPLY = toBinary(machine.EtcdRecoverResponseSchema, create(machine.EtcdRecoverResponseSchema, { messages: [{}] }));

const STATUS_REPLY = toBinary(
  cosi.GetResponseSchema,
  create(cosi.GetResponseSchema, { resource: { metadata: { id: "machine", version: "1" }, spec: { yamlSpec: "stage: running\n" } } }),
);

export async function startMachineServer(options: MachineServerOptions): Promise<MachineServer> {
  const calls: string[] = [];
  const nodes: (string | undefined)[] = [];
  const canceled: string[] = [];
  const uploaded: Uint8Array[] = [];
  let sentBytes = 0;
  const events = new EventEmitter();
  const peers = new Set<string>();
  const server = new Server({ "grpc.max_send_message_length": -1 });
  const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
  const definition = (path: string, responseStream: boolean) => ({
    path,
    requestStream: false,
    responseStream,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  });
  const note = (path: string, call: { readonly metadata: { get(key: string): unknown[] }; getPeer(): string }): void => {
    calls.push(path);
    peers.add(call.getPeer());
    nodes.push(call.metadata.get("node")[0] as string | undefined);
  };
  server.addService(
    { get: definition("/cosi.resource.State/Get", false) },
    {
      get: (call: ServerUnaryCall<Buffer, Uint8Array>, callback: sendUnaryData<Uint8Array>) => {
        note("Get", call);
        callback(null, STATUS_REPLY);
      },
    },
  );
  server.addService(
    {
      version: definition("/machine.MachineService/Version", false),
      read: definition("/machine.MachineService/Read", true),
      recover: { ...definition("/machine.MachineService/EtcdRecover", false), requestStream: true },
    },
    {
      version: (call: ServerUnaryCall<Buffer, Uint8Array>, callback: sendUnaryData<Uint8Array>) => {
        note("Version", call);
        const reply = options.versionReply?.() ?? VERSION_REPLY;
        if (reply !== "never") callback(null, reply);
      },
      recover: (call: ServerReadableStream<Buffer, Uint8Array>, callback: sendUnaryData<Uint8Array>) => {
        note("EtcdRecover", call);
        if (options.refuseUpload === true) return callback({ code: 9, details: "/var/lib is not mounted" });
        call.on("data", (chunk: Buffer) => {
          uploaded.push(chunk);
          events.emit("uploaded");
          if (uploaded.length % 8 !== 0) return;
          // A reader that is slower than the network.
          call.pause();
          setImmediate(() => call.resume());
        });
        call.on("end", () => callback(null, RECOVER_REPLY));
        call.on("cancelled", () => {
          canceled.push("EtcdRecover");
          events.emit("canceled");
        });
      },
      read: (call: ServerWritableStream<Buffer, Uint8Array>) => {
        note("Read", call);
        call.on("cancelled", () => {
          canceled.push("Read");
          events.emit("canceled");
        });
        const chunks = options.readReply ?? [];
        if (chunks === "endless") {
          writeEndlessly(call, options.endlessChunk ?? new Uint8Array(), (bytes) => (sentBytes += bytes));
          return;
        }
        for (const chunk of chunks) call.write(chunk);
        call.end();
      },
    },
  );
  const port = await listen(server, options);
  return {
    port,
    sentBytes: () => sentBytes,
    calls,
    nodes,
    canceled,
    uploaded,
    events,
    connections: () => peers.size,
    close: () => server.forceShutdown(),
  };
}

/** Gives the transport as much as it takes, until the client leaves. */
function writeEndlessly(call: ServerWritableStream<Buffer, Uint8Array>, chunk: Uint8Array, sent: (bytes: number) => void): void {
  let isFree = true;
  while (isFree && !call.cancelled) {
    isFree = call.write(chunk);
    sent(chunk.length);
  }
  if (!call.cancelled) call.once("drain", () => writeEndlessly(call, chunk, sent));
}

/** @returns the port */
function listen(server: Server, options: MachineServerOptions): Promise<number> {
  const pair = { cert_chain: Buffer.from(options.certificate.certificate), private_key: Buffer.from(opensslKey(options.certificate.key)) };
  const credentials = ServerCredentials.createSsl(
    options.clientAuthority === undefined ? null : Buffer.from(options.clientAuthority),
    [pair],
    options.clientAuthority !== undefined,
  );
  const host = options.address ?? "127.0.0.1";
  const address = `${host.includes(":") ? `[${host}]` : host}:${options.port ?? 0}`;
  return new Promise<number>((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
}
