import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { listPage, placeToken, tokenPlace, type Page, type Place } from "./listing.ts";

const order = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Keys of few letters, so that they share beginnings; one of two and one of four bytes among them. */
const letters = fc.constantFrom("a", "b", "/", "-", "\u00fc", "\u{1f384}");
const key = fc.string({ unit: letters, minLength: 1, maxLength: 6 });

function scanOf(keys: readonly string[]) {
  return (prefix: string, from: Uint8Array): { readonly key: string }[] =>
    keys.filter((one) => one.startsWith(prefix) && Buffer.compare(Buffer.from(one), from) >= 0).map((one) => ({ key: one }));
}

/** The obvious way: look at every key. */
function obvious(keys: readonly string[], prefix: string, delimiter: string, after: string): readonly string[] {
  const seen = keys
    .filter((one) => one.startsWith(prefix) && order(one, after) > 0)
    .map((one) => {
      const end = delimiter === "" ? -1 : one.indexOf(delimiter, prefix.length);
      return end === -1 ? one : one.slice(0, end + delimiter.length);
    });
  // A beginning counts as a name of its own: one that comes before `after` was listed before it.
  return [...new Set(seen)].filter((one) => order(one, after) > 0);
}

test("pages of any size together are what looking at every key gives, in the order of bytes", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(key, { maxLength: 30 }),
      fc.oneof(fc.constant(""), key),
      fc.constantFrom("", "/", "-", "a/"),
      fc.oneof(fc.constant(""), key),
      fc.integer({ min: 1, max: 7 }),
      (unsorted, prefix, delimiter, after, max) => {
        const keys = unsorted.toSorted(order);
        const found: string[] = [];
        let from: Place | undefined = after === "" ? undefined : { kind: "after", key: after };
        do {
          const page: Page<{ readonly key: string }> = listPage(scanOf(keys), {
            prefix,
            delimiter,
            max,
            ...(from === undefined ? {} : { from }),
          });
          const names = [...page.items.map((item) => item.key), ...page.prefixes];
          assert.ok(names.length <= max && (names.length === max || page.next === undefined));
          found.push(...names.toSorted(order));
          from = page.next === undefined ? undefined : tokenPlace(placeToken(page.next));
        } while (from !== undefined);
        assert.deepEqual(found, obvious(keys, prefix, delimiter, after));
      },
    ),
    { numRuns: 1000 },
  );
});

test("what is no token of a page is none", () => {
  for (const token of ["", "k", "x", "!!", "a2E=", Buffer.from("zkey").toString("base64url")])
    assert.equal(tokenPlace(token), undefined, token);
});
