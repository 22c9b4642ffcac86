// What the examples share: a talosconfig in, a client for each of its machines out.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseTalosconfig } from "@talos-operator/talos";
import { createTalosClient } from "@talos-operator/talos/client";
import type { TalosClient } from "@talos-operator/talos/client";
import { createGrpcDialer } from "@talos-operator/talos/grpc";
import type { TalosDialer } from "@talos-operator/ports";

/** An example: it asks machines, and returns the lines that it has to say. */
export type Example = (talosconfig: string, dialer: TalosDialer) => Promise<readonly string[]>;

/** The endpoints of the current context, each with a client that talks to a machine of that cluster alone. */
export async function* clientsOf(talosconfig: string, dialer: TalosDialer): AsyncGenerator<readonly [string, TalosClient]> {
  const { context, contexts } = parseTalosconfig(talosconfig);
  const { endpoints = [], ca = "", crt = "", key = "" } = contexts.get(context) ?? {};
  const pem = (encoded: string): string => Buffer.from(encoded, "base64").toString("utf8");
  for (const address of endpoints) {
    const client = createTalosClient(dialer.dial({ address }, { kind: "mutual", ca: pem(ca), certificate: pem(crt), key: pem(key) }));
    try {
      yield [address, client];
    } finally {
      client.close();
    }
  }
}

/** Runs an example when its file is what node was started with: `node hack/talos-client-examples/machines.ts talosconfig`. */
export async function runWhenMain(url: string, example: Example): Promise<void> {
  const [, program = "", path] = process.argv;
  if (pathToFileURL(program).href !== url) return;
  if (path === undefined) throw new Error("name the talosconfig of a cluster as the first argument");
  const dialer = createGrpcDialer();
  for (const line of await example(readFileSync(path, "utf8"), dialer)) process.stdout.write(`${line}\n`);
}
