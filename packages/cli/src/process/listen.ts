import { BlockList, isIPv4, isIPv6 } from "node:net";
import { CliError } from "../cli-error.ts";
import { requiredString, type CommandContext, type FlagValues } from "../command.ts";

export interface ListenAddress {
  readonly address: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** Reads `127.0.0.1:7443` or `[::1]:7443`. */
function parseListen(text: string): ListenAddress {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const address = match?.[1] ?? match?.[2];
  if (address === undefined || port > 65_535) {
    throw new CliError(`"${text}" is no address to listen on`, "Write it as address:port, for example 127.0.0.1:7443 or [::1]:7443.", {
      exitCode: 2,
    });
  }
  return { address, port };
}

/** The form that goes into a URL. */
export function hostPort({ address, port }: ListenAddress): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** The address of `--listen`. One that others reach is warned of before anything listens. */
export function readListen(flags: FlagValues, { stderr }: Pick<CommandContext, "stderr">): ListenAddress {
  const listen = parseListen(requiredString(flags, "listen"));
  if (isBeyondLoopback(listen.address)) {
    stderr.write(
      `warning: --listen ${hostPort(listen)} opens the Kubernetes API to everybody who reaches this address: without a credential they read /version, /healthz and ` +
        "/readyz, and whoever holds the kubeconfig of the data folder rules every cluster. Let a firewall admit only those who need it, or listen on " +
        "127.0.0.1 and reach it through an SSH tunnel.\n",
    );
  }
  return listen;
}

function isBeyondLoopback(address: string): boolean {
  const loopback = new BlockList();
  loopback.addSubnet("127.0.0.0", 8, "ipv4");
  loopback.addAddress("::1", "ipv6");
  if (isIPv4(address)) return !loopback.check(address, "ipv4");
  if (isIPv6(address)) return !loopback.check(address, "ipv6");
  // A name stands for any address, except this one.
  return address !== "localhost";
}
