// Adds to package-lock.json the platform packages that npm left out because the registry at hand does not carry them.
// Without them `npm ci` refuses the lock everywhere. Run it after `npm install`; it changes nothing when all are there.
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
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
if (added > 0) writeFileSync(path, `${JSON.stringify(lock, undefined, 2)}\n`);
process.stdout.write(`${added} platform packages added to the lock\n`);
