import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseFaults } from "./parse-faults.ts";

const text = `# Remarks about all.

first: does what it must not (S1)
for W3, guard T4
# Why it is noticed so.
life delete record-lost 12
@ operator/src/a.ts
- if (x)
-   return;
+ if (y)
@ operator/src/b.ts
- gone

second-one: is noticed by the test beside it
@ operator/src/a.ts
-   const told = x;
-
+   const told = y;
+

third: is noticed by others
test operator/src/c.test.ts testkit/src/d.test.ts
@ operator/src/a.ts
- a - b
+ a + b
`;

describe("planted faults as text", () => {
  it("are read with what they stand for, what notices them and what they edit", () => {
    assert.deepEqual(parseFaults(text), [
      {
        name: "first",
        about: "does what it must not (S1)",
        stands: ["W3", "guard T4"],
        workload: "delete",
        trouble: "record-lost",
        runs: 12,
        edits: [
          { file: "operator/src/a.ts", find: "if (x)\n  return;", replace: "if (y)" },
          { file: "operator/src/b.ts", find: "gone", replace: "" },
        ],
      },
      {
        name: "second-one",
        about: "is noticed by the test beside it",
        tests: ["operator/src/a.test.ts"],
        edits: [{ file: "operator/src/a.ts", find: "  const told = x;\n", replace: "  const told = y;\n" }],
      },
      {
        name: "third",
        about: "is noticed by others",
        tests: ["operator/src/c.test.ts", "testkit/src/d.test.ts"],
        edits: [{ file: "operator/src/a.ts", find: "a - b", replace: "a + b" }],
      },
    ]);
  });

  it("that say something else are refused", () => {
    assert.throws(() => parseFaults("No name: x\n@ a.ts\n- a"), /no fault begins with "No name: x"/);
    assert.throws(() => parseFaults("name: x"), /name edits nothing/);
    assert.throws(() => parseFaults("name: x\n- a\n@ a.ts"), /name: what is "- a"\?/);
    assert.throws(() => parseFaults("name: x\n@ a.ts\na"), /name: what is "a"\?/);
  });
});
