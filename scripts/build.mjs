// Bundles the command line into dist/talos-operator.mjs. What is loaded lazily, each command for itself, becomes chunks beside it: a file that holds them all
// would be read, kept and looked through as a whole by every command, which costs the manager 45 MiB.
// With --image (before: --one-file) into dist/image, as the container image has it: without what only the demo needs.
import { build } from "esbuild";
import { cpSync, rmSync } from "node:fs";

/** What the manager may load at its start, with all ten kinds. It holds some three times as much memory for it, as long as it runs. */
const MANAGER_KIB = 2_304;

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
  // grpc-js asks for it when somebody serves Channelz or ORCA, which nothing here does: 150 KiB that every command would read.
  external: ["@grpc/proto-loader"],
  // CommonJS dependencies call require; the names cannot meet those that minifying makes.
  banner: {
    js: 'import { createRequire as __talosOperatorCreateRequire } from "node:module"; const require = __talosOperatorCreateRequire(import.meta.url);',
  },
});
// The demo applies it.
if (!isImage) cpSync("examples/first-cluster/cluster.yaml", "dist/examples/first-cluster/cluster.yaml");
for (const [file, output] of Object.entries(result.metafile.outputs))
  process.stdout.write(`${file} ${Math.round(output.bytes / 1024)} KiB\n`);

const { outputs } = result.metafile;
/** A part with all that it imports before it runs. */
const withImports = (file, seen = new Set()) => {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { path, kind } of outputs[file]?.imports ?? []) if (kind === "import-statement") withImports(path, seen);
  return seen;
};
const manager = Object.keys(outputs).find((file) => outputs[file].entryPoint?.endsWith("/run-manager.ts"));
const loaded = [...withImports(manager, withImports(`${outdir}/talos-operator.mjs`))].map((file) => outputs[file]?.bytes ?? 0);
const loadedKib = Math.round(loaded.reduce((sum, bytes) => sum + bytes, 0) / 1024);
process.stdout.write(`the manager loads ${loadedKib} KiB of them\n`);
if (loadedKib > MANAGER_KIB) {
  process.stderr.write(`error: the manager loads ${loadedKib} KiB, more than ${MANAGER_KIB}: import what few need where it is needed\n`);
  process.exitCode = 1;
}
