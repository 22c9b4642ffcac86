// Bundles the command line into dist/talos-operator.mjs. What is loaded lazily, each command for itself, becomes chunks beside it.
// With --one-file into dist/image/talos-operator.mjs, as the container image has it: loaded lazily all the same, but from one file, and one for traces.
import { build } from "esbuild";
import { cpSync, rmSync } from "node:fs";

const isOneFile = process.argv.includes("--one-file");
const outdir = isOneFile ? "dist/image" : "dist";
rmSync(outdir, { recursive: true, force: true });

/** What the image has as a file of its own, for what hardly anybody switches on shall not cost memory. It shares nothing with the rest. */
const traces = { name: "otlp-tracing", source: "packages/cli/src/adapters/otlp-tracing.ts" };
const aside = {
  name: "aside",
  setup({ onResolve }) {
    onResolve({ filter: /\/otlp-tracing\.ts$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: `./${traces.name}.mjs`, external: true } : undefined,
    );
  },
};

const result = await build({
  entryPoints: { "talos-operator": "packages/cli/src/main.ts", ...(isOneFile ? { [traces.name]: traces.source } : {}) },
  plugins: isOneFile ? [aside] : [],
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
