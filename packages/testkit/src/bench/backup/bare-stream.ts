import { readFileSync } from "node:fs";
import { createGrpcDialer } from "@talos-operator/talos/grpc";
import { machine, methodOf } from "@talos-operator/talos/protocol";

/** The same stream to nowhere: what gRPC alone takes. Nothing of a message is looked at but its length. */
const { path } = methodOf(machine.MachineService.method.etcdSnapshot);
const [, , port, credentials = ""] = process.argv;
const { ca = "", certificate = "", key = "" } = JSON.parse(readFileSync(credentials, "utf8")) as Readonly<Record<string, string>>;
const channel = createGrpcDialer().dial({ address: "127.0.0.1", port: Number(port) }, { kind: "mutual", ca, certificate, key });
let bytes = 0;
const method = { path, encode: () => new Uint8Array(), decode: (message: Uint8Array) => message.length };
for await (const length of channel.serverStream(method, undefined, { timeoutMs: 3_600_000 })) bytes += length;
channel.close();
process.stdout.write(`${bytes}\n`);
