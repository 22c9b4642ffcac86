/** What the tests of the gRPC adapter share: servers and channels that are closed at the end, calls and their failures. */
import assert from "node:assert/strict";
import { after } from "node:test";

import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { TalosCallFailure, TalosCallOptions, TalosChannel, TalosCredentials } from "@talos-operator/ports";

import { machine, methodOf } from "../../protocol.ts";
import { createGrpcDialer } from "../grpc-dialer.ts";
import { startMachineServer } from "./machine-server.ts";
import type { MachineServer, MachineServerOptions } from "./machine-server.ts";

const VERSION = methodOf(machine.MachineService.method.version);
/** Far longer than any of these tests takes. */
const TIMEOUT_MS = 10_000;

const cleanups: (() => void)[] = [];
after(() => {
  for (const cleanup of cleanups.toReversed()) cleanup();
});

export function atEnd(cleanup: () => void): void {
  cleanups.push(cleanup);
}

export async function serve(options: MachineServerOptions): Promise<MachineServer> {
  const server = await startMachineServer(options);
  atEnd(() => server.close());
  return server;
}

export function dial(port: number, credentials: TalosCredentials = { kind: "maintenance" }, address = "127.0.0.1"): TalosChannel {
  const channel = createGrpcDialer().dial({ address, port }, credentials);
  atEnd(() => channel.close());
  return channel;
}

export async function version(channel: TalosChannel, options: Partial<TalosCallOptions> = {}): Promise<string | undefined> {
  const reply = await channel.unary(VERSION, create(EmptySchema), { timeoutMs: TIMEOUT_MS, ...options });
  return reply.messages[0]?.version?.tag;
}

export interface SeenFailure {
  readonly code: number;
  readonly tls: string | undefined;
  readonly peer: string | undefined;
  readonly message: string;
}

/** The failure of a call that must fail as the port says. */
export async function failure(promise: Promise<unknown>): Promise<SeenFailure> {
  const thrown = await promise.then(
    () => assert.fail("the call succeeded"),
    (error: unknown) => error as TalosCallFailure,
  );
  assert.equal(thrown.name, "TalosCallFailure", String(thrown));
  return { code: thrown.code, tls: thrown.tls, peer: thrown.peer, message: thrown.message };
}
