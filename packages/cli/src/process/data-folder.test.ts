import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { after, describe, it } from "node:test";
import { createSqliteStore } from "@talos-operator/apiserver/https";
import { openDataFolder } from "./data-folder.ts";
import { lockFolder } from "./lock-folder.ts";

const base = mkdtempSync(join(tmpdir(), "data-folder-"));
after(() => rmSync(base, { recursive: true, force: true }));
let count = 0;
const place = (name = "d"): string => join(mkdirSync(join(base, `${++count}`), { recursive: true }) ?? "", name);
const isRoot = process.getuid?.() === 0;
const mode = (path: string): string => (lstatSync(path).mode & 0o777).toString(8);

/** Everything below that somebody else may do something with. */
function openBelow(root: string): readonly string[] {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" });
  return ["", ...names]
    .filter((name) => (lstatSync(join(root, name)).mode & 0o077) !== 0)
    .map((name) => `${name} ${mode(join(root, name))}`);
}

/** What a process of ours leaves in its folder, with the store's next file and its log. */
function fill(path: string): void {
  const folder = openDataFolder(path);
  const store = createSqliteStore(folder.file("api.db"), { maxLogBytes: 1 });
  for (let revision = 1; revision < 600; revision++)
    store.commit({
      resource: "/secrets",
      key: `default/s-${revision % 20}`,
      revision,
      object: { metadata: {}, data: { key: "x".repeat(50) } },
    });
  folder.keep("{}", "pki", "authority.json");
  folder.write("{}", "machines", "127.1.0.1.json");
  folder.keep("k", "clusters", "default", "demo", "kubeconfig");
  assert.deepEqual(openBelow(folder.path), []);
  store.close();
  lockFolder(folder).close();
  assert.deepEqual(openBelow(folder.path), []);
}

describe("a data folder on the disk", () => {
  for (const umask of [0o000, 0o022])
    it(`is its owner's alone whatever the umask (0${umask.toString(8)}), and what was open before is closed`, () => {
      const before = process.umask(umask);
      try {
        const path = place();
        fill(path);
        for (const name of ["", ...readdirSync(path, { recursive: true, encoding: "utf8" })])
          chmodSync(join(path, name), statSync(join(path, name)).isDirectory() ? 0o777 : 0o666);
        writeFileSync(join(path, "api.db-wal"), "", { mode: 0o666 });
        writeFileSync(join(path, "api.db.lock-journal"), "", { mode: 0o666 });
        assert.ok(openBelow(path).length > 8);
        fill(path);
      } finally {
        process.umask(before);
      }
    });

  it("that was made before, empty and open, is closed", () => {
    const path = place();
    mkdirSync(path, { mode: 0o777 });
    chmodSync(path, 0o777);
    openDataFolder(path);
    assert.equal(mode(path), "700");
  });

  it("that is open and holds something else is refused with the remedy, and stays as it is", () => {
    const path = place();
    mkdirSync(path);
    chmodSync(path, 0o755);
    writeFileSync(join(path, "notes.txt"), "mine", { mode: 0o644 });
    assert.throws(() => openDataFolder(path), {
      name: "CliError",
      message: /DATA_FOLDER_NOT_PRIVATE.*notes\.txt/,
      remedy: /--data-dir.*chmod 700/,
    });
    assert.deepEqual([mode(path), readdirSync(path)], ["755", ["notes.txt"]]);
    chmodSync(path, 0o700);
    openDataFolder(path);
    assert.equal(mode(join(path, "notes.txt")), "644");
  });

  for (const name of ["kubeconfig", "api.db", "api.db.lock", ".writable", "pki"])
    it(`with a link in place of ${name} is refused, and nothing is written behind it`, () => {
      const path = place();
      const victim = place("victim");
      mkdirSync(path);
      writeFileSync(victim, "mine", { mode: 0o644 });
      chmodSync(victim, 0o644);
      symlinkSync(victim, join(path, name));
      assert.throws(() => openDataFolder(path), { message: /DATA_FOLDER_NOT_PRIVATE.*a link/ });
      assert.deepEqual([readFileSync(victim, "utf8"), mode(victim)], ["mine", "644"]);
    });

  it("with a pipe in place of a file is refused, and not waited for", () => {
    const path = place();
    mkdirSync(path);
    assert.equal(spawnSync("mkfifo", [join(path, ".writable")]).status, 0);
    assert.throws(() => openDataFolder(path), { message: /DATA_FOLDER_NOT_PRIVATE/ });
  });

  it("behind a link of the owner's is the folder that it leads to", () => {
    const path = place();
    const link = place("link");
    mkdirSync(path);
    symlinkSync(path, link);
    assert.equal(openDataFolder(link).path, path);
    assert.equal(mode(path), "700");
  });

  it("may have a space, other letters, a slash at its end, or be relative", () => {
    for (const name of ["with space", "ünï-码", "slash/", relative(process.cwd(), place("relative"))]) {
      const path = name.startsWith("..") || name.includes("relative") ? name : place(name);
      const folder = openDataFolder(path);
      folder.keep("x", "kubeconfig");
      assert.equal(folder.read("kubeconfig"), "x");
      assert.ok(existsSync(join(path, "kubeconfig")), path);
    }
  });

  it("with a path that is too long is refused in a sentence", () => {
    assert.throws(() => openDataFolder(join(base, "x".repeat(300))), { name: "CliError", message: /ENAMETOOLONG/ });
  });

  it("lets no path leave it, not even to a neighbour whose name begins with its own", () => {
    const path = place();
    const folder = openDataFolder(path);
    assert.throws(() => folder.file("..", "d-neighbour"), /leaves the data folder/);
    assert.throws(() => folder.write("x", "..", "..", "x"), /leaves the data folder/);
  });

  it("keeps a file that says the same already as it is", () => {
    const path = place();
    const folder = openDataFolder(path);
    folder.keep("same", "kubeconfig");
    const { ino } = statSync(join(path, "kubeconfig"));
    folder.keep("same", "kubeconfig");
    assert.equal(statSync(join(path, "kubeconfig")).ino, ino);
    folder.keep("other", "kubeconfig");
    assert.equal(readFileSync(join(path, "kubeconfig"), "utf8"), "other");
  });

  it("has the old text when the new one cannot be written", () => {
    const path = place();
    const folder = openDataFolder(path);
    folder.keep("old", "kubeconfig");
    // A folder in its place is what no file can be written over.
    mkdirSync(join(path, "kubeconfig.new", "x"), { recursive: true });
    assert.throws(() => folder.keep("new", "kubeconfig"), { name: "CliError" });
    assert.equal(folder.read("kubeconfig"), "old");
  });
});

// Who may give files away can be whoever else is needed; anybody else is the other user already (see the table of `folder-privacy.test.ts`).
describe("a data folder of another user", { skip: !isRoot && "only root may give a folder away" }, () => {
  it("is refused to root", () => {
    const path = place();
    mkdirSync(path, { mode: 0o700 });
    chownSync(path, 65_534, 65_534);
    assert.throws(() => openDataFolder(path), { message: /belongs to user 65534.*this process is user 0/ });
  });

  it("is refused to a user who may write there by its group, and so is a link or file of somebody else", (context) => {
    for (let up = tmpdir(); up !== "/"; up = dirname(up))
      if ((statSync(up).mode & 0o001) === 0) return context.skip(`no other user may pass through ${up}`);
    const shared = place("shared");
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    for (let up = shared; up !== tmpdir(); up = dirname(up)) chmodSync(up, up === shared ? 0o1777 : 0o755);
    mkdirSync(join(shared, "of-root"));
    chmodSync(join(shared, "of-root"), 0o777);
    mkdirSync(join(shared, "own"), { mode: 0o700 });
    chownSync(join(shared, "own"), 1234, 1234);
    mkdirSync(join(shared, "planted"));
    chownSync(join(shared, "planted"), 1234, 1234);
    writeFileSync(join(shared, "planted", "kubeconfig"), "x");
    symlinkSync(join(shared, "own"), join(shared, "link"));
    spawnSync("chown", ["-h", "4321", join(shared, "link")]);
    // It becomes the other user once it has read its program, which that user need not be able to read.
    const program = `import { openDataFolder } from ${JSON.stringify(new URL("data-folder.ts", import.meta.url).href)};
      process.umask(0);
      process.setgroups([]);
      process.setegid(1234);
      process.seteuid(1234);
      for (const name of ["of-root", "planted", "link", "own", "new"])
        try { openDataFolder(${JSON.stringify(shared)} + "/" + name); console.log(name, "opened"); } catch (error) { console.log(name, error.message.split(": ").slice(2).join(": ")); }`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
    assert.deepEqual(
      stdout.trim().split("\n"),
      [
        "of-root it belongs to user 0, who may read all that is in it, and this process is user 1234",
        'planted files in it belong to another user: "kubeconfig"',
        "link it is a link of user 4321",
        "own opened",
        "new opened",
      ],
      stderr,
    );
    assert.equal(mode(join(shared, "new")), "700");
  });
});
