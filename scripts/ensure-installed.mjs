// Installs dependencies before a script that needs them: `npm start` and `npm test` work on a fresh clone with nothing but npm.
// Plain JavaScript for old Node: it runs before Node 24 from npm is there.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stamp = join(root, "node_modules", ".talos-operator-installed");
const wanted = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex");
/** Type stripping without a flag, node:sqlite, and the TLS behaviour that the gRPC library needs. */
const NEEDED_MAJOR = 24;

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  process.stderr.write("Installing dependencies (once, about half a minute) ...\n");
  const npm = process.env.npm_execpath;
  const command = npm === undefined ? ["npm"] : [process.execPath, npm];
  const result = spawnSync(command[0], [...command.slice(1), "ci", "--ignore-scripts", "--no-fund", "--no-audit", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    // What a caller asked of this script is no advice for the installation (`npm start --omit=...`).
    env: { ...process.env, npm_config_loglevel: "error" },
  });
  if (result.status !== 0) {
    process.stderr.write("Dependencies could not be installed. Check that npm reaches its registry, then run the command again.\n");
    process.exit(1);
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
}

const bundled = existsSync(join(root, "node_modules", ".bin", process.platform === "win32" ? "node.cmd" : "node"));
const installedMajor = Number(process.versions.node.split(".")[0]);
if (!bundled && installedMajor < NEEDED_MAJOR) {
  process.stderr.write(
    `Node ${process.versions.node} is too old and npm has no Node for ${process.platform} ${process.arch} in our list. Install Node ${NEEDED_MAJOR} or newer and run the command again.\n`,
  );
  process.exit(1);
}
