import { existsSync } from "node:fs";
import { isIPv4 } from "node:net";
import { CliError } from "../cli-error.ts";
import type { DataFolder } from "./data-folder.ts";

/** Where simulated machines begin when nobody says otherwise; the examples name its network. */
export const DEFAULT_FIRST_ADDRESS = "127.1.0.1";

/** Address of simulated machine `n`, counted from 1. */
export type SimulatedAddress = (n: number) => string;

/** The last host address of 127.0.0.0/8. */
const LAST = "127.255.255.254";

/**
 * The addresses from `first` on.
 *
 * @param count how many are used
 * @throws CliError when `first` is no host address of 127.0.0.0/8, or fewer than `count` are left from it on
 */
export function simulatedAddresses(first: string, count: number): SimulatedAddress {
  const begin = isIPv4(first) ? numberOf(first) : 0;
  const [network, last] = [numberOf("127.0.0.0"), numberOf(LAST)];
  if (begin <= network || begin > last)
    throw new CliError(
      `--first-address ${JSON.stringify(first.slice(0, 64))} is no address of the loopback network 127.0.0.0/8`,
      `Name one from 127.0.0.1 to ${LAST}, such as 127.20.3.1.`,
      { exitCode: 2 },
    );
  if (begin + count - 1 > last)
    throw new CliError(
      `from --first-address ${first} on there are ${last - begin + 1} addresses, and ${count} are needed`,
      `Name ${addressOf(last - count + 1)} or a lower one.`,
      { exitCode: 2 },
    );
  return (n) => addressOf(begin + n - 1);
}

function numberOf(address: string): number {
  return Buffer.from(address.split(".").map(Number)).readUInt32BE();
}

function addressOf(number: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes.join(".");
}

/** Where a data folder keeps the first address of its machines. */
const FILE = "first-address";

/**
 * Keeps the first address with the machines.
 *
 * @throws CliError when the folder keeps machines from another address on: the example's cluster would move to new machines, and cannot
 */
export function keepFirstAddress(folder: DataFolder, first: string): void {
  const kept = folder.read(FILE) ?? (existsSync(folder.file("machines")) ? DEFAULT_FIRST_ADDRESS : first);
  if (kept !== first)
    throw new CliError(
      `${folder.path} keeps machines from ${kept} on, and --first-address is ${first}`,
      `Start it with --first-address ${kept}, or name another folder with --data-dir.`,
    );
  folder.keep(first, FILE);
}
