import { Metadata, Server, ServerCredentials, status } from "@grpc/grpc-js";
import type {
  sendUnaryData,
  ServerDuplexStream,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { setTimeout as sleep } from "node:timers/promises";
import type { IncomingCall } from "../datacenter/call.ts";
import type { Datacenter } from "../datacenter/types.ts";
import type { Machine } from "../node/machine.ts";
import { definitions } from "./method-definitions.ts";
import { clientAuthoritiesOf, derCertificateToPem, standardKey } from "./pem.ts";

const maxMessageBytes = 32 * 1024 * 1024;
/** Answers that are on their way may still leave when a machine drops its connections. */
const graceMs = 30;

type AnyCall = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>;
type UploadCall = ServerReadableStream<unknown, unknown> | ServerDuplexStream<unknown, unknown>;

/** One gRPC server with the TLS identity that the machine has now. A change of identity means another server. */
export interface MachineServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Listens for one machine. With an identity of maintenance mode nobody is asked for a certificate; configured machines demand one that
 * their accepted CAs signed.
 *
 * @throws Error of `listen` (address in use, address not available)
 */
export async function listenForMachine(datacenter: Datacenter, machine: Machine, port: number): Promise<MachineServer> {
  const { address } = machine.hardware;
  const server = new Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
    "grpc.so_reuseport": 0,
  });
  const service = Object.fromEntries(definitions.map((definition) => [definition.path, definition]));
  server.addService(service, implementation(datacenter, address));
  const host = address.includes(":") ? `[${address}]` : address;
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, credentialsFor(machine), (error, boundPort) =>
      error === null ? resolve(boundPort) : reject(error),
    );
  });
  return {
    port: bound,
    async close() {
      server.tryShutdown(() => undefined);
      await sleep(graceMs);
      server.forceShutdown();
    },
  };
}

function credentialsFor(machine: Machine): ServerCredentials {
  const { api } = machine;
  if (api.kind === "down") throw new Error("a machine that is down does not listen");
  const pair = { cert_chain: Buffer.from(api.identity.certificate), private_key: Buffer.from(standardKey(api.identity.key)) };
  if (api.kind === "maintenance") return ServerCredentials.createSsl(null, [pair], false);
  return ServerCredentials.createSsl(Buffer.from(clientAuthoritiesOf(machine).join("\n")), [pair], true);
}

function implementation(datacenter: Datacenter, address: string): UntypedServiceImplementation {
  return Object.fromEntries(
    definitions.map((definition) => {
      if (definition.requestStream) return [definition.path, refuseUpload];
      if (definition.responseStream) {
        return [
          definition.path,
          (call: ServerWritableStream<unknown, unknown>) => void answerStream(datacenter, address, definition.path, call),
        ];
      }
      return [
        definition.path,
        (call: ServerUnaryCall<unknown, unknown>, reply: sendUnaryData<unknown>) =>
          void answerUnary(datacenter, address, definition.path, call, reply),
      ];
    }),
  );
}

function refuseUpload(call: UploadCall, reply?: sendUnaryData<unknown>): void {
  const failure = { code: status.UNIMPLEMENTED, details: "uploads are not simulated" };
  if (reply === undefined) call.emit("error", failure);
  else reply(failure);
}

async function answerUnary(
  datacenter: Datacenter,
  address: string,
  path: string,
  call: ServerUnaryCall<unknown, unknown>,
  reply: sendUnaryData<unknown>,
): Promise<void> {
  try {
    const answer = await datacenter.handle(address, incoming(path, call));
    reply(null, answer.kind === "unary" ? answer.message : undefined);
  } catch (error) {
    reply(failureOf(error));
  }
}

async function answerStream(
  datacenter: Datacenter,
  address: string,
  path: string,
  call: ServerWritableStream<unknown, unknown>,
): Promise<void> {
  try {
    const answer = await datacenter.handle(address, incoming(path, call));
    if (answer.kind !== "stream") throw new Error(`${path} gave one message`);
    for await (const message of answer.messages) {
      if (call.cancelled) return;
      if (!call.write(message)) await drained(call);
    }
    call.end();
  } catch (error) {
    if (!call.cancelled) call.emit("error", failureOf(error));
  }
}

function drained(call: ServerWritableStream<unknown, unknown>): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      call.off("drain", go);
      call.off("cancelled", go);
      resolve();
    };
    call.once("drain", go);
    call.once("cancelled", go);
  });
}

function incoming(path: string, call: AnyCall): IncomingCall {
  const controller = new AbortController();
  call.on("cancelled", () => controller.abort());
  const names = ["node", "nodes", "proxyfrom", "talos-role"];
  // Node's HTTP/2 server joins repeated headers with a comma.
  const values = names
    .map((name) => [name, call.metadata.get(name).flatMap((value) => String(value).split(/, */))] as const)
    .filter(([, list]) => list.length > 0);
  const raw = call.getAuthContext()?.sslPeerCertificate?.raw;
  return {
    path,
    request: call.request,
    metadata: Object.fromEntries(values),
    clientCertificate: raw === undefined ? undefined : derCertificateToPem(raw),
    signal: controller.signal,
  };
}

function failureOf(error: unknown): { readonly code: number; readonly details: string; readonly metadata: Metadata } {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return { code: typeof code === "number" ? code : status.UNKNOWN, details: String(message), metadata: new Metadata() };
}
