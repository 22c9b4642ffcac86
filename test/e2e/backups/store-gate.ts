import assert from "node:assert/strict";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";

/** A request of S3 on its way. */
export interface StoreRequest {
  readonly method: string;
  /** Of the object, below its bucket. */
  readonly key: string;
  readonly query: URLSearchParams;
  /** `asked`: the store knows nothing of it yet; `answered`: the store did it, and whoever asked does not know. */
  readonly moment: "asked" | "answered";
}

/** Stands before a genuine store and passes everything on as it is, so that a test knows the moment that it is at. */
export interface StoreGate {
  readonly endpoint: string;
  /** Waited for at both moments of every request; what it throws breaks the connection. */
  onRequest: (request: StoreRequest) => Promise<void> | void;
  close(): Promise<void>;
}

/** @param store address and port of the genuine one */
export async function startStoreGate(store: string): Promise<StoreGate> {
  const gate: Pick<StoreGate, "onRequest"> = { onRequest: () => undefined };
  const pass = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const url = new URL(asked.url ?? "/", "http://store");
    const about = {
      method: asked.method ?? "",
      key: decodeURIComponent(url.pathname).split("/").slice(2).join("/"),
      query: url.searchParams,
    };
    await gate.onRequest({ ...about, moment: "asked" });
    const onward = request(`http://${store}`, { method: asked.method, path: asked.url, setHost: false });
    // As they came: the signature is over them.
    for (let index = 0; index < asked.rawHeaders.length; index += 2)
      onward.setHeader(asked.rawHeaders[index] ?? "", asked.rawHeaders[index + 1] ?? "");
    asked.pipe(onward);
    asked.on("error", () => onward.destroy());
    const given = await new Promise<IncomingMessage>((resolve, reject) => onward.on("response", resolve).on("error", reject));
    await gate.onRequest({ ...about, moment: "answered" });
    answer.writeHead(given.statusCode ?? 500, given.rawHeaders);
    given.pipe(answer);
    given.on("error", () => answer.destroy());
    answer.on("close", () => given.destroy());
  };
  const server = createServer((asked, answer) => {
    // Whoever asked may be killed, and so may the store: the other side sees a connection that breaks.
    answer.on("error", () => undefined);
    pass(asked, answer).catch(() => answer.destroy());
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return Object.assign(gate, {
    endpoint: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
