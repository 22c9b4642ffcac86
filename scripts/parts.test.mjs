import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, describe, it } from "node:test";
import { linkParts, partsOf, partsOfAll } from "./parts.mjs";

const folder = mkdtempSync(join(tmpdir(), "parts-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const script = join(import.meta.dirname, "../hack/tools/build.sh");

/** Commands that building needs beside Go. */
const tools = ["bash", "cat", "chmod", "cut", "dirname", "grep", "mkdir", "mv", "nproc", "rm", "sha256sum", "stat"];
const bin = folderWith("bin", []);
for (const name of tools) symlinkSync(spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim(), join(bin, name));

/** A Go that writes down what it builds. */
const go = folderWith("go", []);
writeFileSync(
  join(go, "go"),
  `#!${join(bin, "bash")}
if [ "$1" = version ]; then echo "go version of a test"; exit; fi
while [ "$1" != -o ]; do shift; done
echo "built $2" >> ${join(folder, "builds")}; echo "a program" > "$2"; chmod +x "$2"
`,
  { mode: 0o755 },
);

function folderWith(name, files) {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  for (const file of files) writeFileSync(join(path, file), "");
  return path;
}

/** Makes parts ready in a process of its own, as the gate does. */
function ensure(names, { hasGo, ...env }) {
  const script = `import(${JSON.stringify(new URL("parts.mjs", import.meta.url).href)})
    .then((parts) => parts.ensureParts(${JSON.stringify(names)}))
    .then((paths) => console.log(JSON.stringify([...paths])), (error) => { console.error(error.message); process.exitCode = 1; });`;
  return spawnSync(process.execPath, ["-e", script], {
    env: { PATH: hasGo ? `${go}:${bin}` : bin, HOME: folder, ...env },
    encoding: "utf8",
  });
}

describe("genuine parts", () => {
  it("are taken from KUBEBUILDER_ASSETS, whichever folder it names (A039)", () => {
    const names = ["etcd", "kube-apiserver", "kubectl"];
    for (const version of ["1.35", "1.36"]) {
      const assets = folderWith(version, names);
      const { stdout, stderr } = ensure(names, { hasGo: false, KUBEBUILDER_ASSETS: assets });
      assert.deepEqual(
        JSON.parse(stdout),
        names.map((name) => [name, join(assets, name)]),
        stderr,
      );
    }
  });

  it("a folder that lacks one of them is refused by its name, and so is one that is not there (A039)", () => {
    const names = ["etcd", "kube-apiserver", "kubectl"];
    const lacking = ensure(names, { hasGo: false, KUBEBUILDER_ASSETS: folderWith("lacking", ["etcd"]) });
    assert.match(lacking.stderr, /lacks kube-apiserver, kubectl:/);
    const absent = ensure(names, { hasGo: false, KUBEBUILDER_ASSETS: join(folder, "absent") });
    assert.deepEqual([absent.status, /lacks etcd, kube-apiserver, kubectl:/.test(absent.stderr)], [1, true]);
  });

  it("a variable that is empty names no folder, and a relative one is told as a path that links may hold", () => {
    const names = ["etcd", "kubectl"];
    const env = { hasGo: false, KUBEBUILDER_ASSETS: "", XDG_CACHE_HOME: "", TALOS_OPERATOR_TOOLS: "" };
    const { stderr } = ensure(names, env);
    assert.ok(stderr.includes(`missing in ${join(folder, ".cache/talos-operator/tools")}: etcd, kubectl;`), stderr);
    const assets = folderWith("relative", names);
    const { stdout } = ensure(names, { hasGo: false, KUBEBUILDER_ASSETS: relative(process.cwd(), assets) });
    assert.deepEqual(
      JSON.parse(stdout),
      names.map((name) => [name, join(assets, name)]),
    );
  });

  it("are built by two at once, each for itself", async () => {
    const slow = folderWith("slow", []);
    // Neither is ready before the other has begun.
    const text = `#!${join(bin, "bash")}
if [ "$1" = version ]; then echo "go version of a test"; exit; fi
while [ "$1" != -o ]; do shift; done
echo "a program" > "$2"; chmod +x "$2"; echo >> ${join(slow, "begun")}
until [ "$(grep -c "" ${join(slow, "begun")})" = 2 ]; do :; done
`;
    writeFileSync(join(slow, "go"), text, { mode: 0o755 });
    const env = { PATH: `${slow}:${bin}`, BIN: folderWith("two", []) };
    const build = () => new Promise((done) => spawn("bash", [script, "etcd"], { env, stdio: "ignore" }).on("close", done));
    assert.deepEqual(await Promise.all([build(), build()]), [0, 0]);
    assert.deepEqual(readdirSync(env.BIN).toSorted(), [".stamp", "etcd"]);
  });

  it("that are missing without Go are named in one sentence", () => {
    const { status, stderr } = ensure(["etcd", "helm"], { hasGo: false, TALOS_OPERATOR_TOOLS: folderWith("empty", []) });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^Genuine parts are missing, and there is no Go to build them: install Go 1\.26 or newer \(missing in .*: etcd, helm;/,
    );
    assert.equal(stderr.trimEnd().split("\n").length, 1);
  });

  it("are built once, and again when the stamp is of another version or is missing", () => {
    const cache = folderWith("cache", []);
    const env = { hasGo: true, TALOS_OPERATOR_TOOLS: cache };
    const builds = () => readFileSync(join(folder, "builds"), "utf8").trim().split("\n").length;
    assert.equal(ensure(["etcd", "helm"], env).status, 0);
    assert.equal(builds(), 2);
    assert.equal(ensure(["etcd", "helm"], env).status, 0);
    assert.equal(builds(), 2);
    writeFileSync(join(cache, ".stamp/etcd"), "another version\n");
    unlinkSync(join(cache, ".stamp/helm"));
    assert.equal(ensure(["etcd", "helm"], env).status, 0);
    assert.equal(builds(), 4);
    assert.equal(ensure(["etcd", "helm"], { ...env, hasGo: false }).status, 0, "current ones need no Go");
  });

  it("are declared by every real test, by names that can be built, and are all that the test finds", () => {
    const files = globSync("{test,packages/*/src}/**/*.real-test.ts", { cwd: join(import.meta.dirname, "..") });
    assert.ok(files.length > 40);
    const names = partsOfAll(files);
    const check = spawnSync("bash", [script, "--check", ...names], {
      env: { ...process.env, BIN: folderWith("none", []) },
      encoding: "utf8",
    });
    assert.equal(check.stderr, "");
    assert.deepEqual(new Set(check.stdout.trim().split("\n")), new Set(names));
    const paths = new Map(names.map((name) => [name, join(folder, name)]));
    for (const file of files) {
      const linked = linkParts(file, paths);
      assert.deepEqual(readdirSync(linked).toSorted(), partsOf(file).toSorted());
      rmSync(linked, { recursive: true });
    }
  });
});
