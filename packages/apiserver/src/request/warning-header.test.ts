import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startMemoryServer } from "../testing/memory-server.ts";
import { warningHeader } from "./warning-header.ts";

describe("the Warning header", () => {
  it("says every warning once, on one line and quoted", () => {
    assert.equal(warningHeader([]), undefined);
    assert.equal(warningHeader(['a "b"', "c\r\nd", 'a "b"', "e\\f"]), String.raw`299 - "a \"b\"", 299 - "c d", 299 - "e\\f"`);
  });

  it("cuts long warnings only when all of them are too much", () => {
    const long = "é".repeat(4096);
    assert.equal(warningHeader([long]), `299 - "${long}"`);
    assert.equal(warningHeader([long, "b"]), `299 - "${"é".repeat(256)}", 299 - "b"`);
  });

  it("ends beyond 4,096 letters, however much there is to say", () => {
    const header = warningHeader(Array.from({ length: 10_000 }, (_, index) => `${index} `.padEnd(300, "x"))) ?? "";
    assert.deepEqual([header.split(", ").length, header.length], [16, 16 * (256 + 8) + 15 * 2]);
  });

  it("stays small for an object of 130,000 unknown fields", async () => {
    const { world } = await startMemoryServer();
    const unknown = Object.fromEntries(Array.from({ length: 130_000 }, (_, index) => [`u${index}`, 1]));
    const body = { metadata: { name: "a" }, ...unknown };
    const answer = await world.send("POST", world.core("configmaps"), body, { query: { fieldValidation: "Warn" } });
    assert.equal(answer.status, 201, JSON.stringify(answer.body).slice(0, 200));
    assert.ok((answer.headers["warning"] ?? "").length < 10_000);
  });
});
