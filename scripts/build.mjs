// Bundles the command line into dist/talos-operator.mjs. What is loaded lazily, each command for itself, becomes chunks beside it.
// With --one-file into dist/image/talos-operator.mjs alone, as the container image has it: loaded lazily all the same, but from one file.
import { build } from "esbuild";
import { cpSync, rmSync } from "node:fs";

const isOneFile = process.argv.includes("--one-file");
const outdir = isOneFile ? "dist/image" : "dist";
rmSync(outdir, { recursive: true, force: true });
const result = await build({
  entryPoints: { "talos-operator": "packages/cli/src/main.ts" },
  outdir,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  splitting: !isOneFile,
  format: "esm",
  platform: "node",
  target: "node24",
  minify: true,
  metafile: true,
  legalComments: "none",
  // CommonJS dependencies call require; the names cannot meet those that minifying makes.
  banner: {
    js: 'import { createRequire as __talosOperatorCreateRequire } from "node:module"; const require = __talosOperatorCreateRequire(import.meta.url);',
  },
});
// The demo applies it.
if (!isOneFile) cpSync("examples/first-cluster/cluster.yaml", "dist/examples/first-cluster/cluster.yaml");
for (const [file, output] of Object.entries(result.metafile.outputs))
  process.stdout.write(`${file} ${Math.round(output.bytes / 1024)} KiB\n`);
