import { open, stat } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { createSecureServer, type ServerHttp2Stream } from "node:http2";
import { memberId } from "./large-snapshot.ts";

/** Talos cuts what etcd streams into messages of this many bytes. */
const MESSAGE_BYTES = 1_024;
const MESSAGES_AT_ONCE = 256;

/**
 * A machine that streams a file as the snapshot of its etcd, by a server of HTTP/2 alone: it shall take little beside whoever is measured. Runs until it is killed; its
 * first line names its port.
 *
 * @param identity file with `ca`, `certificate` and `key`, as JSON
 */
async function serveMember(path: string, identity: string): Promise<void> {
  const { ca, certificate, key } = JSON.parse(readFileSync(identity, "utf8")) as Readonly<Record<string, string>>;
  const { size } = await stat(path);
  const server = createSecureServer({ ca: ca ?? "", cert: certificate ?? "", key: key ?? "", requestCert: true, rejectUnauthorized: true });
  server.on("stream", (stream, headers) => {
    // Whoever asked has enough.
    stream.on("error", () => undefined);
    stream.resume();
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    const call = headers[":path"] ?? "";
    if (call.endsWith("/EtcdStatus")) stream.end(framed(statusOf(size)));
    else if (call.endsWith("/EtcdSnapshot")) void streamFile(stream, path);
    else stream.end(framed(field(1, Buffer.alloc(0))));
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object") process.stdout.write(`${address?.port}\n`);
  });
}

async function streamFile(stream: ServerHttp2Stream, path: string): Promise<void> {
  const file = await open(path);
  try {
    const read = Buffer.alloc(MESSAGE_BYTES * MESSAGES_AT_ONCE);
    for (;;) {
      const { bytesRead } = await file.read(read, 0, read.length);
      if (bytesRead === 0) break;
      const messages: Buffer[] = [];
      for (let at = 0; at < bytesRead; at += MESSAGE_BYTES)
        messages.push(framed(field(2, read.subarray(at, Math.min(bytesRead, at + MESSAGE_BYTES)))));
      if (!stream.write(Buffer.concat(messages))) await new Promise((resolve) => stream.once("drain", resolve));
    }
    stream.end();
  } finally {
    await file.close();
  }
}

/** A message of gRPC. */
function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** A field of protobuf that has a length. */
function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(BigInt((number << 3) | 2)), varint(BigInt(bytes.length)), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 0x80n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
}

/** machine.EtcdStatusResponse, of proto/machine/machine.proto. */
function statusOf(size: number): Buffer {
  const id = BigInt(`0x${memberId}`);
  const number = (at: number, value: bigint): Buffer => Buffer.concat([varint(BigInt(at << 3)), varint(value)]);
  const status = Buffer.concat([
    field(1, Buffer.from("3.6.4")),
    number(2, BigInt(size)),
    number(4, id),
    number(10, id),
    field(11, Buffer.from("3.6.0")),
  ]);
  return field(1, field(2, status));
}

const [, , path, identity] = process.argv;
if (import.meta.main && path !== undefined && identity !== undefined) await serveMember(path, identity);
