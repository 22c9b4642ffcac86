import { createServer } from "node:net";
import { CliError, errorCode } from "../cli-error.ts";

/** Address of simulated machine `n`, counted from 1: 127.1.0.1, 127.1.0.2, ... */
export function simulatedAddress(n: number): string {
  return `127.1.${Math.floor(n / 256)}.${n % 256}`;
}

export function isLoopback(address: string): boolean {
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address) || address === "::1";
}

/** Linux answers on all of 127/8; other systems want an alias for each address. */
export async function requireBindable(addresses: readonly string[]): Promise<void> {
  const missing: string[] = [];
  for (const address of addresses) {
    const code = await tryBind(address);
    if (code === "EADDRNOTAVAIL") missing.push(address);
  }
  if (missing.length === 0) return;
  throw new CliError(
    `this system does not answer on ${missing.join(", ")}`,
    `Add the aliases and try again: ${missing.map((address) => `sudo ifconfig lo0 alias ${address}`).join("; ")}`,
  );
}

function tryBind(address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(errorCode(error)));
    server.listen(0, address, () => server.close(() => resolve(undefined)));
  });
}
