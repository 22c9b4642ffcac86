import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { array, assert as check, asyncProperty, nat, property, string, tuple } from "fast-check";

import { isTalosError } from "../client.ts";
import { isConfigError } from "../index.ts";
import { common } from "../protocol.ts";
import { clientOf } from "../client/testing/with-client.ts";
import { mutatedTexts } from "./adapters/mutations.ts";
import { readers } from "./readers.ts";

const RUNS = 50;

/** What was read, or `undefined` when the text was refused; anything but a refusal is a fault. */
function outcomeOf<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (isConfigError(thrown)) return undefined;
    throw thrown;
  }
}

/**
 * A block whose first words are indented. After an empty line Talos prints no indentation indicator, so that the indentation is lost when it is read; and of a
 * manifest the empty space at both ends is taken away when it is read, the indicator's reason with it.
 */
const LOSES_ITS_INDENTATION = /\|(?:\d[-+]?\n|[-+]?\n\n+ )/;

/**
 * Printed once more it is the same. Only where a word is lacking that has to be one of a few, it is refused: Talos prints its zero, `Protocol(0)`, and does not
 * read that, and neither do we. And a block whose first words are indented may come back without that indentation, or not at all, as from Talos (goldens
 * `found-empty-lines-first` and `found-empty-lines-in-manifest`); all else stays.
 */
function assertStays(printed: string, print: (text: string) => string): void {
  const again = outcomeOf(() => print(printed));
  const losesIndentation = LOSES_ITS_INDENTATION.test(printed);
  if (again === undefined) assert.ok(losesIndentation || /: [A-Z]\w*\(0\)$/m.test(printed), printed);
  else if (losesIndentation) assert.equal(withoutIndentation(again), withoutIndentation(printed));
  else assert.equal(again, printed);
}

function withoutIndentation(text: string): string {
  return text.replaceAll(/^ +/gm, "").replaceAll(/\|\d/g, "|");
}

describe("a text that is almost right", () => {
  const texts = mutatedTexts();
  for (const { name, read, print } of readers) {
    test(`as ${name} is read or refused${print === undefined ? "" : ", and what is printed stays what it is"}`, () => {
      check(
        property(texts, (text) => {
          if (print === undefined) return void outcomeOf(() => read(text));
          const printed = outcomeOf(() => print(text));
          if (printed !== undefined && name !== "patch") assertStays(printed, print);
        }),
        { numRuns: RUNS },
      );
    });
  }

  test("stays what it is, but for a word that is lacking, whose zero is printed and refused", () => {
    const rule = "apiVersion: v1alpha1\nkind: NetworkRuleConfig\nname: r1\nportSelector:\n  ports: [22-23]\n";
    const print = readers.find(({ name }) => name === "config")?.print;
    assert.ok(print !== undefined);
    const printed = print(rule);
    assert.match(printed, /protocol: Protocol\(0\)/);
    assertStays(printed, print);
    assert.throws(() => print(printed), isConfigError);
  });

  test("stays what it is, but for the indentation of a block that begins with an empty line, which Talos loses, too", () => {
    const golden = new URL("../../testdata/golden/encoding/found-empty-lines-first/canonical.yaml", import.meta.url);
    const print = readers.find(({ name }) => name === "config")?.print;
    assert.ok(print !== undefined);
    const printed = readFileSync(golden, "utf8");
    assertStays(printed, print);
    assert.notEqual(print(printed), printed);
  });

  test("or any text at all is read or refused", () => {
    check(
      property(string({ unit: "binary", maxLength: 200 }), (text) => {
        for (const { read } of readers) outcomeOf(() => read(text));
      }),
      { numRuns: RUNS },
    );
  });
});

test("a kubeconfig's archive that is damaged is read or refused", async () => {
  const archive = readFileSync(new URL("../../testdata/kubeconfig/without-end.tar.gz", import.meta.url));
  await check(
    asyncProperty(array(tuple(nat(archive.length - 1), nat(255)), { maxLength: 4 }), nat(archive.length), async (changes, length) => {
      const bytes = Uint8Array.from(archive.subarray(0, length));
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
      const { client } = clientOf({ "/machine.MachineService/Kubeconfig": () => [create(common.DataSchema, { bytes })] });
      await client.kubeconfig().catch((thrown: unknown) => {
        if (!isTalosError(thrown, "MALFORMED_REPLY")) throw thrown;
      });
    }),
    { numRuns: RUNS },
  );
});
