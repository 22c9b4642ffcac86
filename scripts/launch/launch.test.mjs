import assert from "node:assert/strict";
import { transformSync } from "esbuild";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname } from "node:path";
import { describe, it } from "node:test";
import { until } from "../../packages/adapters/src/testing/until.ts";
import { createClone } from "./testing/clone.mjs";

const require = createRequire(import.meta.url);
const root = new URL("../../", import.meta.url);
const NOT_HERE = { leaveOut: ["node_modules/of-another-platform"] };

describe("every npm script", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

  it("begins with the launcher, and none waits for a lifecycle that .npmrc switches off", () => {
    for (const [name, command] of Object.entries(scripts)) {
      assert.doesNotMatch(name, /^(pre|post)/);
      for (const part of command.split(" && ")) assert.match(part, /^(node scripts\/launch\/run\.cjs |npm (run|test))/, name);
    }
  });

  it("names files that there are", () => {
    for (const [name, command] of Object.entries(scripts))
      for (const [, file] of command.matchAll(/run\.cjs (?:--for running )?(?:-\S+ )*(\S+)/g))
        assert.ok(existsSync(new URL(file, root)), `${name}: ${file}`);
  });
});

describe("the launcher", () => {
  it("is written for Node 10, and asks for nothing that has to be installed", () => {
    const folder = new URL(".", import.meta.url);
    for (const name of readdirSync(folder).filter((file) => file.endsWith(".cjs"))) {
      const text = readFileSync(new URL(name, folder), "utf8");
      // import() is for Node 24 alone, and old Node only has to read it.
      const as = (target) => transformSync(text, { target, minifyWhitespace: true, supported: { "dynamic-import": true } }).code;
      assert.equal(as("node10.24"), as("esnext"), name);
      for (const [, asked] of text.matchAll(/require\("([^"]+)"\)/g))
        assert.match(asked, /^\.\/[\w-]+\.cjs$|^(fs|os|path|url|module|child_process)$/, name);
    }
  });

  it("installs on a fresh clone, and gives the script its words as they are", async () => {
    using clone = createClone();
    const words = ["with space", "it's", 'a "quote"', "$HOME", "*", "--help", ""];
    const first = await clone.run(["told.mjs", ...words]);
    assert.deepEqual([first.code, JSON.parse(first.stdout)], [0, words]);
    assert.match(first.stderr, /^Installing 2 packages that development needs/);
    const [call] = clone.npmCalls();
    assert.match(call, /\["ci","--include=dev","--include=optional","--ignore-scripts"/);
    assert.equal(existsSync(clone.file(".install-lock")), false);
  });

  it(
    "is what the command of the checkout runs, from any folder, through a link, and without development packages",
    { skip: process.platform === "win32" },
    async () => {
      using clone = createClone();
      cpSync(new URL("talos-operator", root), clone.file("talos-operator"));
      mkdirSync(clone.file("packages/cli/src"), { recursive: true });
      cpSync(clone.file("told.mjs"), clone.file("packages/cli/src/main.ts"));
      symlinkSync("talos-operator", clone.file("linked"));
      const words = ["with space", "$HOME", "--help", ""];
      const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
      const { code, stdout, stderr } = await clone.run(words, { program: clone.file("linked"), cwd: tmpdir(), env });
      assert.deepEqual([code, stdout], [0, `${JSON.stringify(words)}\n`], stderr);
      assert.match(clone.npmCalls()[0], /\["ci","--omit=dev"/);
      const again = await clone.run(["exit", "3"], { program: clone.file("talos-operator"), env });
      assert.deepEqual([again.code, again.stderr, clone.npmCalls().length], [3, "", 1]);
    },
  );

  it("only installs without a script", async () => {
    using clone = createClone();
    const { code, stdout } = await clone.run([]);
    assert.deepEqual([code, stdout, clone.npmCalls().length], [0, "", 1]);
    assert.equal((await clone.run(["--version"])).stdout, `${process.version}\n`);
  });

  it("installs once, and again when the lock names another version, or something was removed", async () => {
    using clone = createClone();
    const count = async () => {
      const { stderr, code } = await clone.run(["told.mjs"]);
      assert.equal(code, 0, stderr);
      return clone.npmCalls().length;
    };
    assert.equal(await count(), 1);
    assert.equal(await count(), 1);
    clone.lock("1.0.1");
    assert.equal(await count(), 2);
    rmSync(clone.file("node_modules/wanted"), { recursive: true });
    assert.equal(await count(), 3);
    writeFileSync(clone.file("node_modules/.package-lock.json"), '{"packages":{"node_mod');
    assert.equal(await count(), 4);
    assert.equal(await count(), 4);
  });

  it("does not hand on to npm what the caller asked of his script", async () => {
    using clone = createClone();
    await clone.run(["told.mjs"], { env: { npm_config_omit: "dev", npm_config_workspace: "packages/cli" } });
    assert.match(clone.npmCalls()[0], /omit=$/);
  });

  it("keeps exit codes, and shows what a script throws", async () => {
    using clone = createClone();
    for (const first of [[], ["--no-warnings"]]) {
      assert.equal((await clone.run([...first, "told.mjs", "exit", "3"])).code, 3);
      const { code, stderr } = await clone.run([...first, "told.mjs", "throw"]);
      assert.deepEqual([code, /thrown by the script/.test(stderr)], [1, true]);
    }
  });

  for (const { way, first } of [
    { way: "in the same process", first: [] },
    { way: "in a second process", first: ["--no-warnings"] },
  ])
    it(`hands signals to a script ${way}, and ends as it ends`, async () => {
      using clone = createClone();
      for (const name of ["SIGINT", "SIGTERM"]) {
        const waiting = clone.start([...first, "told.mjs", "wait", "for"]);
        await waiting.says(/Ready/);
        waiting.signalAlone(name);
        const { code, stdout } = await waiting.ended;
        assert.deepEqual([code, stdout.split("\n").slice(2)], [7, [name, ""]]);
        const deaf = clone.start([...first, "told.mjs", "wait"]);
        await deaf.says(/Ready/);
        deaf.signalAlone(name);
        assert.equal((await deaf.ended).signal, name);
      }
    });

  it("lets two that start at once on a fresh clone install one time", async () => {
    using clone = createClone();
    const fake = { ...NOT_HERE, waitsFor: "two-wait" };
    const started = [1, 2, 3].map((number) => clone.start(["told.mjs", String(number)], { fake }));
    let waiting = 0;
    for (const one of started) one.says(/Another command \(process \d+\) installs packages/).then(() => (waiting += 1), ignored);
    await until("two of them wait", () => waiting === 2);
    writeFileSync(clone.file("two-wait"), "");
    const all = await Promise.all(started.map(({ ended }) => ended));
    assert.deepEqual(
      all.map(({ code, stdout }) => [code, stdout]),
      [1, 2, 3].map((number) => [0, `["${number}"]\n`]),
    );
    assert.equal(clone.npmCalls().length, 1);
  });

  it("waits for an npm whose launcher was killed, and takes what it installed", async () => {
    using clone = createClone();
    const killed = clone.start(["told.mjs"], { fake: { ...NOT_HERE, waitsFor: "one-waits" } });
    await until("npm stands in the lock", () => clone.npmCalls().length === 1 && linesOfLock(clone) === 2);
    killed.signalAlone("SIGKILL");
    const next = clone.start(["told.mjs"]);
    await next.says(/Another command \(process \d+\) installs packages/);
    writeFileSync(clone.file("one-waits"), "");
    const { code, stderr } = await next.ended;
    assert.equal(code, 0, stderr);
    assert.equal(clone.npmCalls().length, 1);
  });

  it("does an installation again that was killed in the middle, npm with it", async () => {
    using clone = createClone();
    const killed = clone.start(["told.mjs"], { fake: { ...NOT_HERE, waitsFor: "never" } });
    await until("npm stands in the lock", () => clone.npmCalls().length === 1 && linesOfLock(clone) === 2);
    killed.signal("SIGKILL");
    await killed.ended;
    assert.ok(existsSync(clone.file(".install-lock")));
    const next = await clone.run(["told.mjs"]);
    assert.equal(next.code, 0, next.stderr);
    assert.equal(clone.npmCalls().length, 2);
  });

  it("ends an installation by Ctrl-C, npm with it, and says that the next command completes it", async () => {
    using clone = createClone();
    // The npm of people goes on to the end of the download, and takes all of it away then.
    const stopped = clone.start(["told.mjs"], { fake: { ...NOT_HERE, waitsFor: "never", ignoresSignals: true } });
    await until("npm runs", () => clone.npmCalls().length === 1);
    stopped.signal("SIGINT");
    const { signal, stderr } = await stopped.ended;
    assert.equal(signal, "SIGINT");
    assert.match(stderr, /interrupted\. The next command completes it/);
    assert.equal(existsSync(clone.file(".install-lock")), false);
    assert.equal((await clone.run(["told.mjs"])).code, 0);
  });

  it("takes over a lock that nobody holds: of a process that is gone, with its number given to another, half written", async () => {
    using clone = createClone();
    for (const content of [`${2 ** 22 + 1} 1\n`, `${process.pid} 1\n`, String(process.pid)]) {
      rmSync(clone.file("node_modules"), { recursive: true, force: true });
      writeFileSync(clone.file(".install-lock"), content);
      const { code, stderr } = await clone.run(["told.mjs"]);
      assert.equal(code, 0, stderr);
      assert.equal(existsSync(clone.file(".install-lock")), false);
    }
  });

  it("installs for running without development, and adds that later beside what is there", async () => {
    using clone = createClone();
    assert.equal((await clone.run(["--for", "running", "told.mjs", "a"])).stdout, '["a"]\n');
    assert.equal(existsSync(clone.file("node_modules/for-development")), false);
    writeFileSync(clone.file("node_modules/wanted/loaded-late.js"), "");
    mkdirSync(clone.file("node_modules/for-development/half-unpacked"), { recursive: true });
    const added = await clone.run(["told.mjs"]);
    assert.match(added.stderr, /^Adding 1 packages that development needs/);
    assert.match(clone.npmCalls()[1], /\["install","--no-save","--include=dev"/);
    assert.ok(existsSync(clone.file("node_modules/wanted/loaded-late.js")));
    assert.equal(existsSync(clone.file("node_modules/for-development/half-unpacked")), false);
    await clone.run(["--for", "running", "told.mjs"]);
    assert.equal(clone.npmCalls().length, 2);
  });

  it("goes on without an optional package that npm left out, unless it is the Node that is asked for", () => {
    using clone = createClone();
    const { inspect } = require("./installed.cjs");
    mkdirSync(clone.file("node_modules"));
    writeFileSync(clone.file("node_modules/.package-lock.json"), '{"packages":{}}');
    for (const [name, isInstalled] of [
      ["fast", true],
      [`node-${process.platform}-${process.arch}`, false],
    ]) {
      const packages = { [`node_modules/${name}`]: { version: "24.0.0", optional: true } };
      writeFileSync(clone.file("package-lock.json"), JSON.stringify({ packages }));
      assert.equal(inspect(clone.folder, true).isInstalled, isInstalled, name);
    }
  });

  for (const [code, said, want] of [
    ["ENOTFOUND", "FetchError: request to https://registry.example.com/a failed", /does not reach its registry \(FetchError: request to/],
    ["E403", "403 Forbidden - GET https://registry.example.com/a", /registry refuses \(403 Forbidden/],
    ["ENOSPC", "nospc ENOSPC: no space left on device, write", /the disk is full[^]*Make room/],
    [undefined, "Exit handler never called!", /npm ended with exit code 1 \(Exit handler never called!\)[^]*npm ping/],
  ])
    it(`says in a sentence what went wrong, and what to do: ${code ?? "no code"}`, async () => {
      using clone = createClone();
      const failWith = `${code === undefined ? "" : `npm error code ${code}\nnpm error errno ${code}\n`}npm error ${said}\nnpm error A complete log of this run can be found in: /x/debug.log\n`;
      const { code: exit, stderr, stdout } = await clone.run(["told.mjs"], { fake: { failWith } });
      assert.deepEqual([exit, stdout], [1, ""]);
      assert.match(stderr, want);
      assert.match(stderr, /^Packages could not be installed: .*, then run the command again\.$/m);
      assert.doesNotMatch(stderr, /^\s+at |node:internal|debug\.log/m);
      assert.equal(existsSync(clone.file(".install-lock")), false);
      assert.equal((await clone.run(["told.mjs"])).code, 0);
    });

  it("refuses an npm that does not read the lock, in a sentence", async () => {
    using clone = createClone();
    const { code, stderr } = await clone.run(["told.mjs"], { env: { npm_config_user_agent: "npm/6.14.18 node/v14.21.3 linux x64" } });
    assert.equal(code, 1);
    assert.match(stderr, /^npm 6 is too old for package-lock\.json\. Install Node 24/m);
    assert.deepEqual(clone.npmCalls(), []);
  });
});

const linesOfLock = (clone) =>
  existsSync(clone.file(".install-lock")) && readFileSync(clone.file(".install-lock"), "utf8").split("\n").length - 1;

/** What `ended` tells is looked at. */
const ignored = () => undefined;
