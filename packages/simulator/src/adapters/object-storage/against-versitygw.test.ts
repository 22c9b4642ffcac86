// The endpoint against what a genuine S3 server answered to the same requests; see the .real-test.ts beside, which holds these goldens to the server itself.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { load } from "js-yaml";
import { runS3Case, type S3Seen } from "../../testing/adapters/s3-sender.ts";
import { s3Cases } from "../../testing/s3-cases.ts";
import { s3Differences } from "../../testing/s3-differences.ts";
import { serveS3, type ServedS3 } from "./serve-s3.ts";

const testdata = join(import.meta.dirname, "../../../testdata/object-storage");
const goldens = JSON.parse(readFileSync(join(testdata, "versitygw.json"), "utf8")) as Readonly<Record<string, readonly S3Seen[]>>;
const keys = { accessKeyID: "testkey", secretAccessKey: "test-secret" };

interface KnownDifference {
  /** Of a case, or a pattern between slashes. */
  readonly case: string;
  /** What is said of it, or a pattern between slashes. */
  readonly what: string;
  readonly reason: string;
}
const known = load(readFileSync(join(testdata, "differences.yaml"), "utf8")) as readonly KnownDifference[];
const isNamed = (name: string, text: string): boolean => (name.startsWith("/") ? new RegExp(name.slice(1, -1)).test(text) : name === text);

describe("the S3 endpoint answers as versitygw, but for the differences that are listed", () => {
  const errors: unknown[] = [];
  const met = new Set<KnownDifference>();
  let served: ServedS3;
  before(async () => {
    const buckets = s3Cases.map((_, index) => `case-${index}`);
    served = await serveS3({ ...keys, buckets, port: 0, onError: (error) => errors.push(error) });
  });
  after(() => served.close());

  for (const [index, one] of s3Cases.entries())
    it(one.name, async () => {
      const seen = await runS3Case(served.endpoint, keys, `case-${index}`, one);
      const golden = goldens[one.name] ?? [];
      assert.equal(golden.length, seen.length, "not recorded: UPDATE_GOLDENS=1 npm run test:real -- against-versitygw");
      const unknown = seen.flatMap((answer, step) => {
        const found = s3Differences(golden[step] ?? { status: 0 }, answer);
        return found.flatMap((what) => {
          const reasons = known.filter((entry) => isNamed(entry.case, one.name) && isNamed(entry.what, what));
          for (const reason of reasons) met.add(reason);
          return reasons.length > 0 ? [] : [`step ${step}, ${one.steps[step]?.method} ${one.steps[step]?.path.slice(0, 60)}: ${what}`];
        });
      });
      assert.deepEqual(unknown, []);
    });

  it("has no fault of its own, and every difference that is listed is one", () => {
    assert.deepEqual(errors, []);
    assert.deepEqual(
      known.filter((entry) => !met.has(entry)),
      [],
    );
  });
});
