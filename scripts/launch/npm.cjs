// The npm that installs: which one it is, with which options, and what it says when it fails.
"use strict";
const fs = require("fs");
const path = require("path");
const { spawn } = require("child_process");

// What a caller asked of his script (`npm start --omit=dev`) or set for his own projects is no advice for the installation: it would come out another one.
const OPTIONS =
  "--include=optional --ignore-scripts --package-lock=true --bin-links=true --dry-run=false --global=false --engine-strict=false --legacy-peer-deps=false " +
  "--strict-peer-deps=false --no-fund --no-audit --no-update-notifier --loglevel=error --progress=false " +
  // Its own is a minute: without a network an answer comes after half a minute instead of two and a half.
  "--fetch-retry-maxtimeout=15000";
const NOT_OURS =
  /^npm_config_(omit|include|only|also|production|optional|workspaces?|include_workspace_root|location|(local_)?prefix|package_lock_only|install_strategy|install_links|json|silent|quiet)$/i;

function startNpm(folder, words) {
  const [, major] = /^npm\/(\d+)\./.exec(process.env.npm_config_user_agent || "") || [];
  if (Number(major) < 7)
    throw new Error(`npm ${major} is too old for package-lock.json. Install Node 24 or newer, then run the command again.`);
  const [command, ...first] = npmCommand();
  const env = Object.assign({}, process.env);
  for (const name of Object.keys(env)) if (NOT_OURS.test(name)) delete env[name];
  const options = { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], shell: command.endsWith(".cmd") };
  return spawn(command, [...first, ...words, ...OPTIONS.split(" ")], options);
}

/** The npm that runs this script, by the Node that runs it; other package managers set the same variables. */
function npmCommand() {
  const npm = process.env.npm_execpath;
  if (npm === undefined || !/^np[mx]-cli\.[cm]?js$/.test(path.basename(npm)) || !fs.existsSync(npm))
    return [process.platform === "win32" ? "npm.cmd" : "npm"];
  return [process.env.npm_node_execpath || process.execPath, npm.replace(/npx-cli(\.[cm]?js)$/, "npm-cli$1")];
}

const causes = [
  [/^(ENOSPC|EDQUOT)$/, "the disk is full", "Make room here and in `npm config get cache`"],
  [/^(E[45]\d\d|ENEEDAUTH|ETARGET|\w*CERT\w*|UNABLE_TO\w+)$/, "npm's registry refuses", "Check `npm config get registry` and your rights"],
  [
    /^(ENOTFOUND|EAI_AGAIN|E\w*(CONN|UNREACH|TIMEDOUT)\w*|\w+_(TIMEOUT|ERROR|CLOSE))$/,
    "npm does not reach its registry",
    "Check the network and `npm config get registry`",
  ],
];

/** What npm printed with `--loglevel=error`, in a sentence: what is wrong, npm's own word for it, and what to do. */
function describeFailure(printed, end) {
  const lines = printed.match(/^npm (error|ERR!) .*$/gm) || [];
  const texts = lines.map((line) => line.replace(/^npm \S+ /, "").trim());
  const [, code] = /^npm \S+ (?:code|errno) ([A-Z]\w+)$/m.exec(printed) || /\b(E[A-Z]{4,})\b/.exec(printed) || [];
  const said = texts.find((text) => !/^(code|errno|syscall|path|dest|cwd) |complete log of this run|^at /.test(text));
  const [, what, remedy] = causes.find(([codes]) => codes.test(code)) || [
    undefined,
    `npm ended with ${end}`,
    "Check that `npm ping` works",
  ];
  return `Packages could not be installed: ${what}${said === undefined ? "" : ` (${said})`}. ${remedy}, then run the command again.`;
}

module.exports = { describeFailure, startNpm };
