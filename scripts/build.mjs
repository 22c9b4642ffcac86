// Bundles the command line into dist/talos-operator.mjs. What is loaded lazily, each command for itself, becomes chunks beside it: a file that holds them all
// would be read, kept and looked through as a whole by every command, which costs the manager 45 MiB.
// With --image (before: --one-file) into dist/image, as the container image has it: without what only the demo needs.
import { build } from "esbuild";
import { cpSync, rmSync } from "node:fs";

const isImage = process.argv.includes("--image") || process.argv.includes("--one-file");
const outdir = isImage ? "dist/image" : "dist";
rmSync(outdir, { recursive: true, force: true });

const result = await build({
  entryPoints: { "talos-operator": "packages/cli/src/main.ts" },
  outdir,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  splitting: true,
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
if (!isImage) cpSync("examples/first-cluster/cluster.yaml", "dist/examples/first-cluster/cluster.yaml");
for (const [file, output] of Object.entries(result.metafile.outputs))
  process.stdout.write(`${file} ${Math.round(output.bytes / 1024)} KiB\n`);
