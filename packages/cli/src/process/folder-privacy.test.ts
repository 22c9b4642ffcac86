import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { judgeFolder, type EntryFacts } from "./folder-privacy.ts";

const me = 1000;
const folder = (path: string, mode = 0o700, uid = me): EntryFacts => ({ path, kind: "folder", uid, mode });
const file = (path: string, mode = 0o600, uid = me): EntryFacts => ({ path, kind: "file", uid, mode });
const ours = [file("api.db", 0o644), file("api.1.db-wal"), folder("pki", 0o755), file("pki/authority.json", 0o640), file("kubeconfig")];

/** What is closed, or why it is refused. */
const cases: readonly (readonly [name: string, root: EntryFacts, entries: readonly EntryFacts[], outcome: readonly string[] | RegExp])[] = [
  ["empty and closed", folder(""), [], []],
  ["empty and open", folder("", 0o755), [], [""]],
  ["empty and for a group", folder("", 0o750), [], [""]],
  ["that others may pass through only", folder("", 0o711), [], [""]],
  ["with our files", folder("", 0o755), ours, ["", "api.db", "pki", "pki/authority.json"]],
  ["closed, with files of ours that are not", folder(""), ours, ["api.db", "pki", "pki/authority.json"]],
  ["that is a fresh file system of its own", folder("", 0o755), [folder("lost+found", 0o700, 0)], [""]],
  ["open, with somebody's notes", folder("", 0o755), [...ours, file("notes.txt")], /mode 0755.*holds what is not.*"notes\.txt"/],
  [
    "open, with a folder of a name of ours and other things in it",
    folder("", 0o777),
    [folder("machines"), file("machines/x.txt")],
    /x\.txt/,
  ],
  ["as /tmp is", folder("", 0o1777, 0), [], /belongs to user 0/],
  ["closed, with somebody's notes", folder(""), [file("notes.txt", 0o644)], []],
  ["of another user", folder("", 0o700, 1001), [], /belongs to user 1001/],
  ["for a group, of root", folder("", 0o2770, 0), [], /belongs to user 0/],
  [
    "with an authority that another user put there",
    folder("", 0o777),
    [folder("pki"), file("pki/authority.json", 0o644, 1001)],
    /another user: "pki\/auth/,
  ],
  ["with a link in place of a file", folder("", 0o755), [{ ...file("kubeconfig"), kind: "link" }], /a link.*"kubeconfig"/],
  ["with a pipe in place of a file", folder(""), [{ ...file(".writable"), kind: "other" }], /no file.*"\.writable"/],
  ["with a folder in place of a file", folder(""), [folder("api.db")], /"api\.db"/],
  ["that is a file", file(""), [], /no folder/],
];

describe("a data folder", () => {
  for (const [name, root, entries, outcome] of cases)
    it(`${name} is ${outcome instanceof RegExp ? "refused with a remedy" : outcome.length === 0 ? "taken as it is" : "closed"}`, () => {
      const verdict = judgeFolder(root, entries, me);
      if (verdict.kind === "accepted") assert.deepEqual(verdict.close, outcome);
      else {
        assert.ok(outcome instanceof RegExp, verdict.why);
        assert.match(verdict.why, outcome);
        assert.match(verdict.remedy, /--data-dir|Remove it/);
      }
    });

  it("is also root's own matter: of another user it is refused", () => {
    assert.equal(judgeFolder(folder("", 0o755), [], 0).kind, "refused");
  });
});
