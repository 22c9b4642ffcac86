// What a person does first: types the commands of README.md, as they stand there, in a shell with an empty HOME.
// Plain JavaScript for Node 20: nothing is installed yet. A command that stays is ended by Ctrl-C, as a terminal does, once it is Ready.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { signalGroup, start } from "../children.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
/** Bounds a command that hangs, the installation included. */
const COMMAND_MS = 1_800_000;
/** From Ctrl-C to the end. */
const STOP_MS = 120_000;
/** What the demo prints when its cluster is there. */
const READY = /Ready after/;
const TRACE = /^\s+at .*:\d+:\d+\)?$|ERR_[A-Z_]+/m;

/** The commands of the first block of README.md. @throws when one that a newcomer needs is not there */
export function readmeCommands() {
  const block = /^```sh\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, "README.md"), "utf8"));
  const commands = block === null ? [] : block[1].split("\n").filter((line) => line.trim() !== "");
  return ["npm start", "npm test"].map((wanted) => {
    const found = commands.find((line) => line.startsWith(wanted));
    if (found === undefined) throw new Error(`README.md has no line "${wanted}" in its first block of commands.`);
    return found;
  });
}

/** Runs one command with a HOME that is empty before and gone afterwards. @throws when it does not end as a person expects */
export async function playCommand(command) {
  const home = mkdtempSync(join(tmpdir(), "talos-operator-home-"));
  try {
    await play(command, environment(home));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Nothing of this user but the way to npm's registry, and nothing that an npm around this process sets for its scripts. */
function environment(home) {
  const env = { HOME: home, CI: "true", npm_config_cache: join(home, ".npm") };
  for (const [name, value] of Object.entries(process.env)) {
    if (/^(npm_|node_|init_cwd$|home$|xdg_|ci$)/i.test(name) && !/^node_extra_ca_certs$/i.test(name)) continue;
    env[name] = value;
  }
  for (const key of ["registry", "cafile", "proxy", "https-proxy", "noproxy"]) {
    const value = execFileSync("npm", ["config", "get", key], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    if (value !== "" && value !== "null" && value !== "undefined") env[`npm_config_${key.replace(/-/g, "_")}`] = value;
  }
  return env;
}

/** A process group of its own, as a shell gives each command: a signal to the group is what Ctrl-C does. */
function play(command, env) {
  const staysUntilStopped = command.startsWith("npm start");
  return new Promise((resolve, reject) => {
    const child = start("sh", ["-c", command], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    let isStopped = false;
    const fail = (message) => {
      signalGroup(child.pid, "SIGKILL");
      reject(new Error(message));
    };
    let tooLate = setTimeout(() => fail(`"${command}" takes longer than ${COMMAND_MS / 60_000} minutes.`), COMMAND_MS);
    const hear = (stream) => (chunk) => {
      stream.write(chunk);
      if (!staysUntilStopped) return;
      printed += chunk;
      if (isStopped || !READY.test(printed)) return;
      isStopped = true;
      clearTimeout(tooLate);
      tooLate = setTimeout(() => fail(`"${command}" goes on for ${STOP_MS / 1000} s after Ctrl-C.`), STOP_MS);
      signalGroup(child.pid, "SIGINT");
    };
    child.stdout.on("data", hear(process.stdout));
    child.stderr.on("data", hear(process.stderr));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(tooLate);
      const end = signal === null ? `exit code ${code}` : `signal ${signal}`;
      if (staysUntilStopped && !isStopped) return fail(`"${command}" ended before it was Ready (${end}).`);
      // A shell that was interrupted with its command ends by the same signal, whatever the command makes of it.
      const isClean = staysUntilStopped ? code === 0 || code === 130 || signal === "SIGINT" : code === 0;
      if (!isClean) return fail(`"${command}" ended with ${end}.`);
      if (staysUntilStopped && TRACE.test(printed)) return fail(`"${command}" printed a trace.`);
      if (signalGroup(child.pid, 0)) return fail(`"${command}" left processes behind.`);
      resolve();
    });
  });
}
