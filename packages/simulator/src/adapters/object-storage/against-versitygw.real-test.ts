// Genuine parts: versitygw
// What the goldens say of versitygw, held to versitygw. UPDATE_GOLDENS=1 records it; read the diff like code.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startGenuineS3 } from "../../testing/adapters/genuine-s3.ts";
import { runS3Case, sendS3, type S3Seen } from "../../testing/adapters/s3-sender.ts";
import { s3Cases } from "../../testing/s3-cases.ts";

const file = join(import.meta.dirname, "../../../testdata/object-storage/versitygw.json");
const keys = { accessKeyID: "testkey", secretAccessKey: "test-secret" };

describe("versitygw answers as the goldens say", () => {
  const answers: Record<string, readonly S3Seen[]> = {};
  let genuine: Awaited<ReturnType<typeof startGenuineS3>>;
  before(async () => void (genuine = await startGenuineS3(keys)));
  after(async () => {
    await genuine.close();
    if (process.env["UPDATE_GOLDENS"] !== "1") return;
    const cases = Object.entries(answers).map(
      ([name, seen]) => `  ${JSON.stringify(name)}: [\n${seen.map((one) => `    ${JSON.stringify(one)}`).join(",\n")}\n  ]`,
    );
    writeFileSync(file, `{\n${cases.join(",\n")}\n}\n`);
  });

  for (const [index, one] of s3Cases.entries())
    it(one.name, async () => {
      const made = await sendS3(genuine.endpoint, keys, { method: "PUT", path: `/case-${index}` });
      assert.equal(made.status, 200);
      const seen = await runS3Case(genuine.endpoint, keys, `case-${index}`, one);
      answers[one.name] = seen;
      if (process.env["UPDATE_GOLDENS"] !== "1")
        assert.deepEqual(seen, (JSON.parse(readFileSync(file, "utf8")) as Record<string, readonly S3Seen[]>)[one.name]);
    });
});
