import { CliError } from "../cli-error.ts";

export interface ListenAddress {
  readonly address: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** Reads `127.0.0.1:7443` or `[::1]:7443`. */
export function parseListen(text: string): ListenAddress {
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
