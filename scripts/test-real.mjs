// Runs the real tier: our client against a genuine kube-apiserver, genuine kubectl, helm and talosctl against our servers.
// Genuine parts are built once from pinned Go modules into a cache folder (hack/tools), or taken from KUBEBUILDER_ASSETS.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "talos-operator", "tools");
mkdirSync(cache, { recursive: true });

const fromAssets = ["etcd", "kube-apiserver", "kubectl"];
const assets = process.env.KUBEBUILDER_ASSETS;
const wanted = [
  "etcd",
  "etcdctl",
  "etcdutl",
  "kube-apiserver",
  "kube-controller-manager",
  "kubectl",
  "helm",
  "talosctl",
  "golden",
  "gitops-judge",
  "promtool",
  "versitygw",
];
let missing = wanted;
let tools = cache;
if (assets !== undefined) {
  const absent = fromAssets.filter((name) => !existsSync(join(assets, name)));
  if (absent.length > 0) {
    process.stderr.write(`KUBEBUILDER_ASSETS names ${assets}, which lacks ${absent.join(", ")}: put them there, or unset it\n`);
    process.exit(1);
  }
  tools = join(cache, "with-assets");
  mkdirSync(tools, { recursive: true });
  for (const name of fromAssets) {
    // An earlier run may have named another folder.
    rmSync(join(tools, name), { force: true });
    symlinkSync(join(assets, name), join(tools, name));
  }
  missing = wanted.filter((name) => !fromAssets.includes(name));
}
if (spawnSync("go", ["version"]).status === 0) {
  process.stderr.write(`Genuine parts in ${tools} (the first build takes about ten minutes on two cores)\n`);
  const build = spawnSync("bash", ["hack/tools/build.sh", "k8s", "talosctl", "golden", "gitops", "promtool", "misc"], {
    stdio: ["ignore", 2, 2],
    env: { ...process.env, BIN: tools, ONLY: missing.join(" ") },
  });
  if (build.status !== 0) process.exit(build.status ?? 1);
} else {
  // Parts that somebody put there are taken as they are: nothing could build others.
  const absent = missing.filter((name) => !existsSync(join(tools, name)));
  if (absent.length > 0) {
    process.stderr.write(
      `The real tier builds genuine parts with Go 1.26 or newer: install it, or put ${absent.join(", ")} into ${tools}; ${fromAssets.join(", ")} are also taken from KUBEBUILDER_ASSETS\n`,
    );
    process.exit(1);
  }
}
if (process.argv.includes("--build-only")) process.exit(0);

const asked = process.argv.slice(2);
/** Runs files one after the other; what they print is shown now, or whole at the end. */
function play(files, stdio) {
  const child = spawn(
    process.execPath,
    ["--test", "--test-concurrency=1", "--test-timeout=1200000", "--test-force-exit", "--test-reporter=spec", ...files],
    { stdio: ["ignore", stdio, stdio], env: { ...process.env, TALOS_OPERATOR_TOOLS: tools } },
  );
  const printed = [];
  child.stdout?.on("data", (chunk) => printed.push(chunk));
  child.stderr?.on("data", (chunk) => printed.push(chunk));
  return new Promise((resolve) => {
    child.on("close", (code) => {
      process.stdout.write(Buffer.concat(printed));
      resolve(code ?? 1);
    });
  });
}
// Simulated machines have the same addresses in all files of test/, so those take turns; files of packages use ports of their own, and mostly wait.
const lanes = asked.length > 0 ? [asked] : ["test", "packages/*/src"].map((folder) => globSync(`${folder}/**/*.real-test.ts`).toSorted());
const codes = await Promise.all(lanes.map((files, index) => play(files, index === 0 ? "inherit" : "pipe")));
process.exit(codes.find((code) => code !== 0) ?? 0);
