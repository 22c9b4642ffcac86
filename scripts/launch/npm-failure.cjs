// What npm printed when it failed, in a sentence: what is wrong, what npm says of it, and what to do next.
"use strict";

const causes = [
  [/^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ENETDOWN)$/, "npm does not reach its registry", "network"],
  [
    /^(ECONNRESET|ETIMEDOUT|ECONNABORTED|EPIPE|EPROTO|ERR_SOCKET_TIMEOUT|ERR_STREAM_PREMATURE_CLOSE|FETCH_ERROR|Z_\w+|TAR_\w+)$/,
    "the connection to npm's registry broke",
    "network",
  ],
  [/^ENOTCACHED$/, "npm is set to stay offline, and its cache does not hold everything", "network"],
  [/^E5\d\d$|^E429$/, "npm's registry answers with an error", "later"],
  [/^E40[137]$|^ENEEDAUTH$/, "npm's registry does not let us in", "registry"],
  [/^E404$|^ETARGET$/, "npm's registry does not carry a package", "registry"],
  [/CERT|SELF_SIGNED|UNABLE_TO/, "the certificate of npm's registry is not trusted here", "certificate"],
  [/^(ENOSPC|EDQUOT)$/, "the disk is full", "disk"],
  [/^(EACCES|EPERM|EROFS)$/, "npm may not write where it has to", "rights"],
  [/^(EINTEGRITY|EBADSIZE)$/, "a package is not the one that package-lock.json names", "integrity"],
  [/^EUSAGE$/, "package.json and package-lock.json do not fit together, or this npm is too old for them", "lock"],
];
const remedies = {
  network: "Check the network, the proxy and `npm config get registry`, then run the command again.",
  later: "Wait a moment, or name another registry (`npm config set registry URL`), then run the command again.",
  registry: "Check `npm config get registry` and the rights there, then run the command again.",
  certificate: "Name its authority (`npm config set cafile FILE`, or NODE_EXTRA_CA_CERTS), then run the command again.",
  disk: "About 800 MB are needed, npm's cache included. Make room here and in `npm config get cache`, then run the command again.",
  rights: "Make this folder and `npm config get cache` writable for you, then run the command again.",
  integrity: "Run `npm cache verify`, then the command again. If it stays, the registry is not to be trusted.",
  lock: "Check that both are as in git and that `npm --version` is 8 or newer, then run the command again.",
  unknown: "Check that npm reaches its registry (`npm ping`), then run the command again.",
};
const MOST_LINES = 4;

/** The message of an InstallError, of what npm printed with `--loglevel=error`. */
function describeFailure(printed, end) {
  const lines = printed
    .split("\n")
    .map((line) => /^npm (?:error|ERR!) ?(.*)$/.exec(line.trim()))
    .filter((match) => match !== null)
    .map(([, text]) => text);
  const codes = lines.map((line) => /^(?:code|errno) ([A-Z]\w+)$/.exec(line)).filter((match) => match !== null);
  // Without a code npm met something it did not expect; the system's word may stand in the text.
  const named =
    codes.length > 0
      ? codes[0][1]
      : (/\b(ENOSPC|EDQUOT|EROFS|EACCES|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT)\b/.exec(printed) || [])[1];
  const cause = causes.find(([pattern]) => named !== undefined && pattern.test(named));
  const said = lines
    .map((line) =>
      line.replace(/^(network|404|403|401|nospc|syscall|path|dest) ?/, (word) => (/^(syscall|path|dest)/.test(word) ? word : "")).trim(),
    )
    .filter(
      (line) =>
        line !== "" &&
        !/^(code|errno|syscall|path|dest|cwd|enoent)\b|^at |complete log of this run|debug\.log|^\{|^\}|^This is a problem related to network|^In most cases/.test(
          line,
        ),
    );
  const what = cause === undefined ? `npm ci ended with ${end}` : `${cause[1]} (${named})`;
  return [
    `Dependencies could not be installed: ${what}.`,
    ...[...new Set(said)].slice(0, MOST_LINES).map((line) => `  npm: ${line}`),
    remedies[cause === undefined ? "unknown" : cause[2]],
  ].join("\n");
}

module.exports = { describeFailure };
