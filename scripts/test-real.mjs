// Runs the real tier: our client against a genuine kube-apiserver, genuine kubectl, helm and talosctl against our servers.
// Genuine parts are built once from pinned Go modules into a cache folder (hack/tools), or taken from KUBEBUILDER_ASSETS.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "talos-operator", "tools");
mkdirSync(cache, { recursive: true });

const fromAssets = ["etcd", "kube-apiserver", "kubectl"];
const assets = process.env.KUBEBUILDER_ASSETS;
const wanted = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "helm", "talosctl", "golden", "promtool"];
let missing = wanted;
let tools = cache;
if (assets !== undefined && fromAssets.every((name) => existsSync(join(assets, name)))) {
  tools = join(cache, "with-assets");
  mkdirSync(tools, { recursive: true });
  for (const name of fromAssets) if (!existsSync(join(tools, name))) symlinkSync(join(assets, name), join(tools, name));
  missing = ["helm", "talosctl", "golden", "promtool"];
}
if (spawnSync("go", ["version"]).status !== 0) {
  process.stderr.write(
    "The real tier builds genuine parts with Go 1.26 or newer: install it, or set KUBEBUILDER_ASSETS and put talosctl and golden into " +
      tools +
      "\n",
  );
  process.exit(1);
}
process.stderr.write(`Genuine parts in ${tools} (the first build takes about ten minutes on two cores)\n`);
const build = spawnSync("bash", ["hack/tools/build.sh", "k8s", "talosctl", "golden", "promtool"], {
  stdio: ["ignore", 2, 2],
  env: { ...process.env, BIN: tools, ONLY: missing.join(" ") },
});
if (build.status !== 0) process.exit(build.status ?? 1);
if (process.argv.includes("--build-only")) process.exit(0);

const asked = process.argv.slice(2);
const files = asked.length > 0 ? asked : globSync("{packages/*/src,test}/**/*.real-test.ts").toSorted();
const result = spawnSync(
  process.execPath,
  ["--test", "--test-concurrency=1", "--test-timeout=600000", "--test-force-exit", "--test-reporter=spec", ...files],
  {
    stdio: "inherit",
    env: { ...process.env, TALOS_OPERATOR_TOOLS: tools },
  },
);
process.exit(result.status ?? 1);
