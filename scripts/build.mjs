// Bundles the command line into one file, dist/talos-operator.mjs. Libraries that are loaded lazily become chunks beside it.
import { build } from "esbuild";
import { rmSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
const result = await build({
  entryPoints: { "talos-operator": "packages/cli/src/main.ts" },
  outdir: "dist",
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
for (const [file, output] of Object.entries(result.metafile.outputs))
  process.stdout.write(`${file} ${Math.round(output.bytes / 1024)} KiB\n`);
