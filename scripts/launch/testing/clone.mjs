import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const launch = fileURLToPath(new URL("..", import.meta.url));

/** A small clone with our launcher in it, one dependency, and a script that tells what it was given. */
export function createClone() {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator launch "));
  const file = (name) => join(folder, name);
  mkdirSync(file("scripts"));
  cpSync(launch, file("scripts/launch"), { recursive: true, filter: (source) => !/testing|\.test\.mjs$|launch.node$/.test(source) });
  const lock = (version) =>
    writeFileSync(
      file("package-lock.json"),
      JSON.stringify({
        lockfileVersion: 3,
        packages: {
          "": { dependencies: { wanted: version } },
          "node_modules/wanted": { version, integrity: `sha512-${"a".repeat(86)}==` },
          "node_modules/for-development": { version, dev: true, integrity: `sha512-${"b".repeat(86)}==` },
          "node_modules/of-another-platform": { version: "1.0.0", optional: true, os: ["none"], cpu: ["none"] },
        },
      }),
    );
  lock("1.0.0");
  writeFileSync(file("package.json"), JSON.stringify({ name: "clone", version: "1.0.0", dependencies: { wanted: "1.0.0" } }));
  writeFileSync(
    file("told.mjs"),
    `process.stdout.write(JSON.stringify(process.argv.slice(2)) + "\\n");
     const [what, value] = process.argv.slice(2);
     if (what === "exit") process.exitCode = Number(value);
     if (what === "throw") throw new Error("thrown by the script");
     if (what === "wait") {
       for (const name of ["SIGINT", "SIGTERM"]) if (value === "for") process.on(name, () => { process.stdout.write(name + "\\n"); process.exit(7); });
       setInterval(() => {}, 1000);
       process.stdout.write("Ready\\n");
     }`,
  );

  /** Starts the launcher, or a program that starts it, in a process group of its own; `fake` is what npm shall do: with `waitsFor` it is done once there is a file of this name. */
  function start(words, { fake = { leaveOut: ["node_modules/of-another-platform"] }, env = {}, program, cwd = folder } = {}) {
    const [command, first] = program === undefined ? [process.execPath, [file("scripts/launch/run.cjs")]] : [program, []];
    const child = spawn(command, [...first, ...words], {
      cwd,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH,
        npm_execpath: fileURLToPath(new URL("npm-cli.cjs", import.meta.url)),
        FAKE_NPM: JSON.stringify(fake),
        ...env,
      },
    });
    const { pid } = child;
    assert.ok(pid !== undefined);
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr })));
    const says = (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => pattern.test(stdout + stderr) && resolve();
        child.stdout.on("data", look);
        child.stderr.on("data", look);
        child.on("close", () => reject(new Error(`ended without saying ${pattern}: ${stdout}${stderr}`)));
        look();
      });
    return {
      ended,
      says,
      signal: (name) => process.kill(-pid, name),
      signalAlone: (name) => process.kill(pid, name),
    };
  }

  return {
    folder,
    file,
    lock,
    start,
    run: (words, options) => start(words, options).ended,
    npmCalls: () => (existsSync(file("npm-calls.txt")) ? readFileSync(file("npm-calls.txt"), "utf8").trim().split("\n") : []),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
