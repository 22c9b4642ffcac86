// Adds to package-lock.json the platform packages that npm left out because the registry at hand does not carry them, and the integrity of all that have none.
// Without them `npm ci` refuses the lock everywhere; without integrity it would take whatever comes. Run it after `npm install`; it changes nothing when all is there.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const path = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8"));
const systems = ["darwin", "win32", "linux", "android", "freebsd", "openbsd", "netbsd", "sunos", "aix", "openharmony"];
const processors = {
  ia32: "ia32",
  x64: "x64",
  arm64: "arm64",
  aarch64: "arm64",
  armv7: "arm",
  arm: "arm",
  ppc64: "ppc64",
  riscv64: "riscv64",
  s390x: "s390x",
  loong64: "loong64",
  wasm32: "wasm32",
};

let added = 0;
for (const [key, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (Object.keys(lock.packages).some((known) => known.endsWith(`node_modules/${name}`))) continue;
    const words = name.split(/[/-]/);
    const os = systems.find((system) => words.includes(system));
    const cpu = Object.keys(processors).find((processor) => words.includes(processor));
    // No name of a platform: leave it to npm, which may have had another reason.
    if (os === undefined && cpu === undefined) continue;
    const libc =
      words.includes("musl") || words.includes("musleabihf")
        ? ["musl"]
        : words.includes("gnu") || words.includes("gnueabihf")
          ? ["glibc"]
          : undefined;
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(cpu === undefined ? {} : { cpu: [processors[cpu]] }),
      ...(entry.dev === true || key === "" ? { dev: true } : {}),
      ...(libc === undefined ? {} : { libc }),
      optional: true,
      ...(os === undefined ? {} : { os: [os] }),
    };
    added += 1;
  }
}
/** Of the registry; undefined where it does not carry that version. */
function integrityOf(name, version) {
  const { stdout, status } = spawnSync("npm", ["view", `${name}@${version}`, "dist.integrity"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    shell: process.platform === "win32",
  });
  const integrity = stdout.trim();
  return status === 0 && integrity.startsWith("sha512-") ? integrity : undefined;
}

let given = 0;
const unknown = [];
for (const [key, entry] of Object.entries(lock.packages)) {
  if (!key.includes("node_modules/") || entry.link === true || entry.integrity !== undefined) continue;
  const name = key.slice(key.lastIndexOf("node_modules/") + "node_modules/".length);
  entry.integrity = integrityOf(name, entry.version);
  if (entry.integrity === undefined) unknown.push(`${name}@${entry.version}`);
  else given += 1;
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
if (added + given > 0) writeFileSync(path, `${JSON.stringify(lock, undefined, 2)}\n`);
process.stdout.write(`${added} platform packages added to the lock, ${given} given their integrity\n`);
if (unknown.length > 0) {
  process.stdout.write(
    `The registry at hand does not carry these, so nothing would prove them: take a version that it has for every platform, or another registry\n${unknown.map((name) => `  ${name}\n`).join("")}`,
  );
  process.exit(1);
}
