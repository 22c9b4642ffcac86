import type { HelmFailureReason } from "../task/result.ts";
import type { HelmEnd } from "./deps.ts";
import { WorkerFault } from "./fault.ts";

interface Row {
  readonly words: RegExp;
  readonly reason: HelmFailureReason;
  readonly mayRepeat: boolean;
  /** What is wrong, in front of Helm's own words. */
  readonly what: string;
  /** What would release it, behind them. Absent where only Helm's words tell. */
  readonly remedy?: string;
}

/** What Helm says on standard error, first match counts. Recorded from genuine ones; another wording ends as `failed`, with its words. */
const ROWS: readonly Row[] = [
  {
    words: /chart requires kubeVersion|incompatible with Kubernetes/i,
    reason: "kubernetes-version",
    mayRepeat: false,
    what: "The chart does not allow this version of Kubernetes",
    remedy: "Name a version of the chart that does, in spec.helmSpec.version.",
  },
  {
    words: /another operation \(install\/upgrade\/rollback\) is in progress/i,
    reason: "release-locked",
    mayRepeat: true,
    what: "Somebody else is at work on the release",
  },
  {
    words: /invalid ownership metadata|cannot be imported into the current release/i,
    reason: "object-not-ours",
    mayRepeat: false,
    what: "An object of the chart exists already and belongs to no release or to another one; options.takeOwnership takes it over",
  },
  {
    words:
      /values don't meet the specifications of the schema|failed parsing|error parsing.*values|cannot unmarshal.*into Go value of type map|error converting YAML to JSON/i,
    reason: "values-invalid",
    mayRepeat: false,
    what: "The values do not fit the chart",
    remedy: "Correct values, valuesFrom or valuesTemplate of spec.helmSpec.",
  },
  {
    words: /execution error at|template: .*:\d+|parse error at|YAML parse error on|error calling/i,
    reason: "template-failed",
    mayRepeat: false,
    what: "A template of the chart fails with these values",
    remedy: "Correct the values, or name another version of the chart.",
  },
  {
    words: /Request entity too large|must have at most \d+ bytes|Too long: (must have|may not be more than)|trying to send message larger/i,
    reason: "release-too-large",
    mayRepeat: false,
    what: "The release does not fit into a Secret: Helm keeps chart, values and objects in one",
    remedy: "Leave out what the chart has as its defaults, or take a smaller chart.",
  },
  {
    words: /(pre|post)-(install|upgrade|rollback|delete).*(failed|timed out)|hooks? failed|failed (pre|post)-/i,
    reason: "hook-failed",
    mayRepeat: true,
    what: "A hook of the chart failed",
    remedy: "The logs of its Job in the cluster say why; it is tried again.",
  },
  {
    words: /not ready|context deadline exceeded|timed out waiting|client rate limiter|resources? .*InProgress|progress deadline/i,
    reason: "not-ready",
    mayRepeat: true,
    what: "What was installed did not get ready in its time",
    remedy: "Its pods say why; spec.helmSpec.options.timeout gives more time.",
  },
  {
    words: /Kubernetes cluster unreachable|connection refused|no such host|i\/o timeout|EOF|server misbehaving/i,
    reason: "cluster-unreachable",
    mayRepeat: true,
    what: "The API of the cluster does not answer",
  },
  {
    words: /Unauthorized|x509: certificate signed by unknown authority|the server has asked for the client to provide credentials/i,
    reason: "cluster-refused",
    mayRepeat: true,
    what: "The cluster refuses the access",
  },
  {
    words:
      /is forbidden|is invalid|admission webhook .* denied|conflict with|no matches for kind|unable to build kubernetes objects|failed to create resource|Apply failed/i,
    reason: "api-refused",
    mayRepeat: true,
    what: "The cluster refuses an object of the chart",
  },
];

/** The same of the ways to a repository. */
const REPOSITORY_ROWS: readonly Row[] = [
  {
    words: /proxyconnect tcp: dial tcp 127\.0\.0\.1:9:/,
    reason: "repository-refused",
    mayRepeat: false,
    what: "The repository leads to an address in plain text (http://), which is not asked",
    remedy: "Use a repository that answers by https alone.",
  },
  {
    words:
      /connection refused|connection reset|no such host|i\/o timeout|Client\.Timeout|network is unreachable|no route to host|: EOF|\b50[0-9]\b/,
    reason: "repository-unreachable",
    mayRepeat: true,
    what: "The repository does not answer",
    remedy: "Correct spec.helmSpec.repoURL, or wait: it is tried again.",
  },
  {
    words:
      /chart "[^"]*" (version "[^"]*" )?not found|no chart (name|version) found|improper constraint|: not found$|manifest unknown|NAME_UNKNOWN|could not locate a version|failed to fetch .*404/im,
    reason: "chart-not-found",
    mayRepeat: false,
    what: "The repository has no such chart, or no such version of it",
    remedy: "Correct chartName, version or repoURL of spec.helmSpec.",
  },
  {
    words: /x509|tls: |certificate/i,
    reason: "repository-refused",
    mayRepeat: false,
    what: "The certificate of the repository is not to be trusted",
    remedy: "Name a Secret with its authority in spec.helmSpec.tlsConfig.caSecret.",
  },
  {
    words: /\b40[13]\b|unauthorized|denied|forbidden|basic credential/i,
    reason: "repository-refused",
    mayRepeat: false,
    what: "The repository refuses the credentials",
    remedy: "Name a Secret that holds good ones in spec.helmSpec.credentials.",
  },
  {
    words: /invalid_reference|invalid chart URL|scheme .* not supported|could not find protocol handler|unsupported protocol/i,
    reason: "bad-task",
    mayRepeat: false,
    what: "The address of the repository cannot be used",
    remedy: "Correct spec.helmSpec.repoURL.",
  },
  {
    words:
      /is not a valid chart repository|error converting|file '.*' does not appear to be a gzipped archive|cannot load|empty index|chart illegally/i,
    reason: "chart-invalid",
    mayRepeat: false,
    what: "What the repository sends is no chart and no index",
    remedy: "Correct spec.helmSpec.repoURL.",
  },
];

/** Most characters of Helm's own words in a message. */
const LONGEST = 400;

/** What is read of what Helm prints, from its beginning and from its end: patterns take longer than in proportion to a text. Characters. */
const MOST_READ = 16_384;

/** Whole lines of the beginning and of the end: half a line might show half a secret, which nobody would recognise. */
function readable(stderr: string): string {
  if (stderr.length <= 2 * MOST_READ) return stderr;
  const head = stderr.slice(0, MOST_READ);
  const tail = stderr.slice(-MOST_READ);
  const cut = tail.indexOf("\n");
  return `${head.slice(0, head.lastIndexOf("\n") + 1)}${cut === -1 ? "" : tail.slice(cut + 1)}`;
}

/** The failure that Helm's words stand for. @param secrets texts that must not appear in a message */
export function faultOf(given: HelmEnd, where: "cluster" | "repository", secrets: readonly string[]): WorkerFault {
  const end = { ...given, stderr: readable(given.stderr) };
  if (end.kind === "not-found") return new WorkerFault("helm-not-found", "There is no helm on the PATH. Install Helm 4 or 3 there.", false);
  if (end.kind === "too-large" && where === "repository")
    return new WorkerFault(
      "chart-too-large",
      "The index or the chart of the repository is larger than Helm can read here. Use a smaller one.",
      false,
    );
  if (end.kind === "too-large")
    return new WorkerFault(
      "template-failed",
      "Rendering the chart takes more memory than there is for Helm: a template does not end, or makes too much. Change the values or the chart.",
      false,
    );
  const words = ownWords(end.stderr, secrets);
  if (end.kind === "killed" && where === "repository")
    return new WorkerFault("repository-unreachable", `The repository did not answer in its time${words === "" ? "" : `: ${words}`}.`, true);
  if (end.kind === "killed")
    return new WorkerFault(
      "timed-out",
      `Helm did not end in its time${words === "" ? "" : `: ${words}`}. A template that does not end, or objects that are waited for, take longer; options.timeout gives more.`,
      true,
    );
  const row = (where === "cluster" ? ROWS : REPOSITORY_ROWS).find((one) => one.words.test(end.stderr));
  const said = words === "" ? "" : `: ${words}`;
  if (row !== undefined)
    return new WorkerFault(row.reason, `${row.what}${said}.${row.remedy === undefined ? "" : ` ${row.remedy}`}`, row.mayRepeat);
  if (where === "repository")
    return new WorkerFault("repository-unreachable", `The repository does not answer${said}. It is tried again.`, true);
  return new WorkerFault("failed", `Helm failed${said || ` with code ${end.code}`}.`, true);
}

/** The last line of an error, without what must not be told. */
function ownWords(stderr: string, secrets: readonly string[]): string {
  const lines = stderr
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(WARNING|level=(DEBUG|INFO|WARN)|time=)/.test(line));
  let text = (lines.findLast((line) => line.startsWith("Error:")) ?? lines.at(-1) ?? "").replace(/^Error: /, "");
  for (const secret of secrets) if (secret.length >= 4) text = text.replaceAll(secret, "…");
  return text
    .replace(/:\/\/[^/@\s]*@/g, "://…@")
    .replace(/\/[^\s:"']*\/(values-\d+|chart|kubeconfig|home)[^\s:"']*/g, "$1")
    .slice(0, LONGEST)
    .replace(/[.\s]+$/, "");
}
