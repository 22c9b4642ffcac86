import { createServer } from "node:https";
import { createX509Keys } from "@talos-operator/adapters";

/** Texts by https on loopback, for one test file. */
export interface FileServer {
  readonly url: string;
  /** PEM of the authority that signed its certificate. */
  readonly ca: string;
  /** @returns the address of the text */
  put(path: string, text: string): string;
  /** @returns an address that leads to another one */
  redirect(path: string, to: string): string;
  close(): Promise<void>;
}

export async function startFileServer(): Promise<FileServer> {
  const keys = createX509Keys();
  const notBefore = Date.now() - 60_000;
  const authority = await keys.createAuthority({ kind: "p256", organization: "files", notBefore });
  const pair = await keys.signCertificate(authority, { usage: "server", notBefore, lifetimeMs: 86_400_000, ipAddresses: ["127.0.0.1"] });
  const texts = new Map<string, string>();
  const leads = new Map<string, string>();
  const server = createServer({ cert: pair.certificate, key: pair.key }, ({ url: path = "" }, answer) => {
    const to = leads.get(path);
    const text = texts.get(path);
    if (to !== undefined) answer.writeHead(302, { location: to }).end();
    else if (text !== undefined) answer.end(text);
    else answer.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  return {
    url,
    ca: authority.certificate,
    put(path, text) {
      texts.set(path, text);
      return `${url}${path}`;
    },
    redirect(path, to) {
      leads.set(path, to);
      return `${url}${path}`;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
