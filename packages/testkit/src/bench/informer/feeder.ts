// Serves the API that the informer benchmark follows: ready-made bytes, so that what is measured is the client.
import { readFileSync } from "node:fs";
import { createSecureServer, type Http2ServerRequest as Request, type Http2ServerResponse as Response } from "node:http2";
import type { AddressInfo } from "node:net";
import { type Change, createChangingThing, OBJECTS } from "./objects.ts";

const [keyFile = "", certificateFile = "", eventsText = "0", changingText = "0", change = "status"] = process.argv.slice(2);
const events = Number(eventsText);
/** So many objects change, one after the other. */
const changing = Number(changingText);
/** Events per write. */
const CHUNK = 20;
const FIRST_VERSION = 100_000_000_000;
const things = Array.from({ length: OBJECTS }, (_, index) => createChangingThing(index, change as Change));
const texts = things.map((thing, index) => thing.next(String(FIRST_VERSION - OBJECTS + index)));
const listed = Array.from({ length: OBJECTS / CHUNK }, (_, chunk) =>
  Buffer.from(
    texts
      .slice(chunk * CHUNK, (chunk + 1) * CHUNK)
      .map((text) => `{"type":"ADDED","object":${text}}\n`)
      .join(""),
  ),
);
let connections = 0;

const server = createSecureServer({ key: readFileSync(keyFile), cert: readFileSync(certificateFile) }, (request, response) => {
  const url = new URL(request.url ?? "", "https://bench");
  if (url.pathname === "/connections") return answer(response, { connections });
  if (url.searchParams.get("watch") === "true") return void follow(url, request, response);
  const limit = Number(url.searchParams.get("limit") ?? OBJECTS);
  const from = Number(url.searchParams.get("continue") ?? 0);
  const next = from + limit < OBJECTS ? { continue: String(from + limit) } : {};
  return answer(response, {
    kind: "ThingList",
    apiVersion: "bench.talos-operator.dev/v1",
    metadata: { resourceVersion: String(FIRST_VERSION), ...next },
    items: texts.slice(from, from + limit).map((text) => JSON.parse(text) as unknown),
  });
});
server.on("secureConnection", () => {
  connections += 1;
});
server.listen(0, "127.0.0.1", () => process.stderr.write(`feeder at ${(server.address() as AddressInfo).port}\n`));

function answer(response: Response, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(200, { "content-type": "application/json", "content-length": bytes.length });
  response.end(bytes);
}

/** The whole of the list when it is wanted, then as many events as were ordered, as fast as the client reads. */
async function follow(url: URL, request: Request, response: Response): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  const write = async (bytes: Buffer): Promise<void> => {
    if (!request.destroyed && !response.write(bytes))
      await new Promise<void>((resolve) => void response.once("drain", resolve).once("close", resolve));
  };
  if (url.searchParams.get("sendInitialEvents") === "true") {
    for (const chunk of listed) await write(chunk);
    const metadata = { resourceVersion: String(FIRST_VERSION), annotations: { "k8s.io/initial-events-end": "true" } };
    await write(Buffer.from(`${JSON.stringify({ type: "BOOKMARK", object: { kind: "Thing", metadata } })}\n`));
  }
  // The client says when: it has measured its list by then.
  await new Promise<void>((resolve) => setTimeout(resolve, 1_500));
  let batch = "";
  for (let count = 1; count <= events && !request.destroyed; count += 1) {
    batch += `{"type":"MODIFIED","object":${things[count % changing]?.next(String(FIRST_VERSION + count)) ?? ""}}\n`;
    if (count % CHUNK !== 0 && count < events) continue;
    await write(Buffer.from(batch, "latin1"));
    batch = "";
  }
}
