import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const folder = mkdtempSync(join(tmpdir(), "real-tier-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Makes the genuine parts ready as the real tier does, on a machine without Go. */
function makeReady(assets) {
  return spawnSync(process.execPath, [join(import.meta.dirname, "test-real.mjs"), "--build-only"], {
    env: { PATH: join(folder, "nothing"), HOME: folder, XDG_CACHE_HOME: folder, KUBEBUILDER_ASSETS: assets },
    encoding: "utf8",
  });
}

/** A folder with empty files of these names. */
function folderWith(path, names) {
  mkdirSync(path, { recursive: true });
  for (const name of names) writeFileSync(join(path, name), "");
  return path;
}

test("the real tier takes etcd, kube-apiserver and kubectl from KUBEBUILDER_ASSETS, whichever folder it names (A039)", () => {
  const tools = folderWith(join(folder, "talos-operator/tools/with-assets"), [
    "etcdctl",
    "etcdutl",
    "kube-controller-manager",
    "helm",
    "talosctl",
    "golden",
    "gitops-judge",
    "promtool",
  ]);
  const names = ["etcd", "kube-apiserver", "kubectl"];
  for (const version of ["1.35", "1.36"]) {
    const assets = folderWith(join(folder, version), names);
    const { status, stderr } = makeReady(assets);
    assert.equal(status, 0, stderr);
    for (const name of names) assert.equal(readlinkSync(join(tools, name)), join(assets, name));
  }
});

test("a folder that lacks one of them is refused by its name, and so is one that is not there (A039)", () => {
  const lacking = makeReady(folderWith(join(folder, "lacking"), ["etcd"]));
  assert.deepEqual([lacking.status, /lacks kube-apiserver, kubectl:/.test(lacking.stderr)], [1, true]);
  const absent = makeReady(join(folder, "absent"));
  assert.deepEqual([absent.status, /lacks etcd, kube-apiserver, kubectl:/.test(absent.stderr)], [1, true]);
});
