import { createServer } from "node:net";
import { CliError, errorCode } from "../cli-error.ts";

export function isLoopback(address: string): boolean {
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address) || address === "::1";
}

/** Taken places that a message names. */
const SHOWN = 3;

/** What a simulated machine listens on: the Talos API, and on control planes Kubernetes. */
const MACHINE_PORTS = [50_000, 6443];

/**
 * Sees that machines can be simulated at the addresses. Linux answers on all of 127/8; other systems want an alias for each.
 *
 * @throws CliError naming what is missing or taken: found now, because machines listen only once they have booted
 */
export async function requireBindable(addresses: readonly string[]): Promise<void> {
  const missing: string[] = [];
  const taken: string[] = [];
  for (const address of addresses) {
    for (const port of MACHINE_PORTS) {
      const code = await tryBind(address, port);
      if (code === "EADDRNOTAVAIL" && !missing.includes(address)) missing.push(address);
      if (code === "EADDRINUSE" || code === "EACCES") taken.push(`${address}:${port}`);
    }
  }
  if (missing.length > 0) {
    throw new CliError(
      `this system does not answer on ${missing.join(", ")}`,
      `Add the aliases and try again: ${missing.map((address) => `sudo ifconfig lo0 alias ${address}`).join("; ")}`,
    );
  }
  if (taken.length > 0) {
    throw new CliError(
      `simulated machines cannot listen on ${taken.slice(0, SHOWN).join(", ")}${taken.length > SHOWN ? ` and ${taken.length - SHOWN} more` : ""}: another process does`,
      "Stop it (another demo or simulator, or a server on all addresses), or take other addresses: --first-address, or those that the manifest names.",
    );
  }
}

function tryBind(address: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(errorCode(error)));
    server.listen(port, address, () => server.close(() => resolve(undefined)));
  });
}
