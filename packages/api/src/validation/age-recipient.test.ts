import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isAgeRecipient } from "../index.ts";

/** From the README of age. */
const RECIPIENT = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";

describe("isAgeRecipient", () => {
  it("takes what age-keygen prints", () => {
    assert.ok(isAgeRecipient(RECIPIENT));
    assert.ok(isAgeRecipient("age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg"));
  });

  it("refuses one with any one letter changed", () => {
    for (let at = 4; at < RECIPIENT.length; at += 1) {
      const other = RECIPIENT[at] === "q" ? "p" : "q";
      assert.ok(!isAgeRecipient(`${RECIPIENT.slice(0, at)}${other}${RECIPIENT.slice(at + 1)}`), `at ${at}`);
    }
  });

  for (const [name, text] of [
    ["nothing", ""],
    ["an identity", `AGE-SECRET-KEY-1${"Q".repeat(58)}`],
    ["capitals", RECIPIENT.toUpperCase()],
    ["a line break", `${RECIPIENT}\n`],
    ["a letter less", RECIPIENT.slice(0, -1)],
    ["a recipient of a plugin", RECIPIENT.replace("age1", "age1yubikey1")],
    ["an ssh key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2Eo"],
  ] as const)
    it(`refuses ${name}`, () => assert.ok(!isAgeRecipient(text)));
});
