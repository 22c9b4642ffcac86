import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { describe, test } from "node:test";
import { HANGS_AFTER_MS } from "./testing/index.ts";
import { createNameResolver } from "./names.ts";

const A = 1;
const AAAA = 28;
const NXDOMAIN = 3;
const SERVFAIL = 2;

/** One resource record of an answer: the question's name, class IN, 60 s. */
function record(type: number, address: readonly number[]): Buffer {
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length]);
  return Buffer.concat([head, Buffer.from(address)]);
}

/** A DNS server on loopback; `undefined` leaves a question unanswered. */
async function serve(
  answer: (type: number) => { readonly code?: number; readonly records?: readonly Buffer[] } | undefined,
): Promise<Socket> {
  const socket = createSocket("udp4");
  socket.on("message", (question, from) => {
    const end = question.indexOf(0, 12) + 5;
    const reply = answer(question.readUInt16BE(end - 4));
    if (reply === undefined) return;
    const head = Buffer.from(question.subarray(0, 12));
    head.writeUInt16BE(0x8180 | (reply.code ?? 0), 2);
    head.writeUInt16BE(reply.records?.length ?? 0, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, question.subarray(12, end), ...(reply.records ?? [])]), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return socket;
}

const v6 = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

describe("looking up a name", () => {
  const cases: readonly {
    readonly name: string;
    readonly answer: Parameters<typeof serve>[0];
    readonly want: readonly string[] | "failure";
  }[] = [
    {
      name: "gives the addresses of both families",
      answer: (type) => ({ records: type === A ? [record(A, [10, 0, 0, 1])] : [record(AAAA, v6)] }),
      want: ["10.0.0.1", "fd00::1"],
    },
    {
      name: "gives those of one family where the other has none",
      answer: (type) => ({ records: type === A ? [record(A, [10, 0, 0, 1])] : [] }),
      want: ["10.0.0.1"],
    },
    { name: "gives nothing for a name that is not there", answer: () => ({ code: NXDOMAIN }), want: [] },
    { name: "fails with the server", answer: () => ({ code: SERVFAIL }), want: "failure" },
    {
      name: "fails when half of the answer does",
      answer: (type) => (type === A ? { records: [record(A, [10, 0, 0, 1])] } : { code: SERVFAIL }),
      want: "failure",
    },
    { name: "IN48: fails when nobody answers in time", answer: () => undefined, want: "failure" },
  ];
  for (const { name, answer, want } of cases)
    test(name, async () => {
      const server = await serve(answer);
      const names = createNameResolver([`127.0.0.1:${server.address().port}`]);
      try {
        const found = names.resolve("cp.example.com", { timeoutMs: want === "failure" ? 250 : HANGS_AFTER_MS });
        if (want === "failure") await assert.rejects(found);
        else assert.deepEqual(await found, want);
      } finally {
        server.close();
      }
    });
});
