// What a person does first: clones the repository, and types the commands of README.md. Run as they stand there, in a shell, with an empty HOME and nothing installed.
// Plain JavaScript for old Node: it runs before anything is installed. A command that stays is ended by Ctrl-C, as a terminal does, once it is Ready.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = join(dirname(fileURLToPath(import.meta.url)), "..");
/** No command takes longer than this, the installation included. */
const COMMAND_MS = 900_000;
/** From Ctrl-C to the end. */
const STOP_MS = 30_000;
/** What the demo says when its cluster is there. */
const READY = /Ready after/;
const TRACE = /^\s+at .*:\d+:\d+\)?$|ERR_[A-Z_]+/m;

const folder = mkdtempSync(join(tmpdir(), "talos-operator-fresh-"));
let failed;
try {
  // A space in the path, as people have them.
  const clone = join(folder, "fresh clone");
  const home = join(folder, "home");
  mkdirSync(home);
  execFileSync("git", ["clone", "--quiet", "--no-local", repository, clone], { stdio: "inherit" });
  if (existsSync(join(clone, "node_modules"))) throw new Error("The clone comes with node_modules: there is nothing to show.");
  const commands = commandsOf(readFileSync(join(clone, "README.md"), "utf8"));
  const env = environment(home);
  for (const command of commands) {
    const begun = Date.now();
    process.stdout.write(`\n--- ${command}\n`);
    await play(command, clone, env);
    process.stdout.write(`--- ${Math.round((Date.now() - begun) / 1000)} s: ${command}\n`);
  }
} catch (error) {
  failed = error;
}
rmSync(folder, { recursive: true, force: true });
if (failed !== undefined) {
  process.stderr.write(`${failed.message}\n`);
  process.exit(1);
}

/** The lines of the first block of commands of README.md. */
function commandsOf(readme) {
  const block = /^```sh\n([\s\S]*?)^```$/m.exec(readme);
  const commands = block === null ? [] : block[1].split("\n").filter((line) => line.trim() !== "");
  for (const wanted of ["npm start", "npm test"])
    if (!commands.some((line) => line.startsWith(wanted)))
      throw new Error(`README.md has no line "${wanted}" in its first block of commands.`);
  return commands;
}

/** Nothing of this user but the way to npm's registry, and nothing that an npm around us sets for its scripts. */
function environment(home) {
  const env = { HOME: home, CI: "true", npm_config_cache: join(home, ".npm") };
  for (const [name, value] of Object.entries(process.env)) {
    if (/^(npm_|node_|init_cwd$|home$|xdg_|ci$)/i.test(name) && !/^node_extra_ca_certs$/i.test(name)) continue;
    env[name] = value;
  }
  for (const key of ["registry", "cafile", "proxy", "https-proxy", "noproxy"]) {
    const value = execFileSync("npm", ["config", "get", key], {
      cwd: repository,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    if (value !== "" && value !== "null" && value !== "undefined") env[`npm_config_${key.replace(/-/g, "_")}`] = value;
  }
  return env;
}

/** A process group of its own, as a shell gives each command: a signal to the group is what Ctrl-C does. */
function play(command, cwd, env) {
  const staysUntilStopped = command.startsWith("npm start");
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", command], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    let isStopped = false;
    let tooLate = setTimeout(() => give(`"${command}" takes longer than ${COMMAND_MS / 1000} s.`), COMMAND_MS);
    const give = (message) => {
      signalGroup(child.pid, "SIGKILL");
      reject(new Error(message));
    };
    const hear = (stream) => (chunk) => {
      stream.write(chunk);
      if (!staysUntilStopped || isStopped) return;
      printed += chunk;
      if (!READY.test(printed)) return;
      isStopped = true;
      clearTimeout(tooLate);
      tooLate = setTimeout(() => give(`"${command}" goes on for ${STOP_MS / 1000} s after Ctrl-C.`), STOP_MS);
      signalGroup(child.pid, "SIGINT");
    };
    child.stdout.on("data", hear(process.stdout));
    child.stderr.on("data", hear(process.stderr));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(tooLate);
      const end = signal === null ? `exit code ${code}` : `signal ${signal}`;
      if (staysUntilStopped && !isStopped) return give(`"${command}" ended before it was Ready (${end}).`);
      // A shell that was interrupted with its command ends by the same signal, whatever the command makes of it.
      const isClean = staysUntilStopped ? code === 0 || code === 130 || signal === "SIGINT" : code === 0;
      if (!isClean) return give(`"${command}" ended with ${end}.`);
      if (staysUntilStopped && TRACE.test(printed)) return give(`"${command}" printed a trace.`);
      if (signalGroup(child.pid, 0)) return give(`"${command}" left processes behind.`);
      resolve();
    });
  });
}

/** Whether somebody of the group was there. */
function signalGroup(group, signal) {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    if (error.code === "ESRCH") return false;
    throw error;
  }
}
