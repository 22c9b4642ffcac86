import { CliError } from "../cli-error.ts";
import type { FlagSpec, FlagValues } from "../command.ts";

/** A flag of the published operators, so that their command lines are understood. */
interface PeerFlag {
  readonly spec: FlagSpec;
  /** True when this value asks for nothing that is not so anyway. */
  readonly isInert: (value: string | boolean) => boolean;
  /** See `ForeignVariable.otherwise`. */
  readonly otherwise: "refuse" | "warn";
  readonly instead: string;
}

const off = (value: string | boolean): boolean => value === false || value === "";
const never = (): boolean => false;

function text(name: string, meaning: string, isInert: PeerFlag["isInert"], otherwise: PeerFlag["otherwise"], instead: string): PeerFlag {
  return { spec: { name, kind: "string", value: "text", summary: summaryOf(meaning, otherwise, instead) }, isInert, otherwise, instead };
}

function flag(name: string, meaning: string, isInert: PeerFlag["isInert"], otherwise: PeerFlag["otherwise"], instead: string): PeerFlag {
  return { spec: { name, kind: "boolean", summary: summaryOf(meaning, otherwise, instead) }, isInert, otherwise, instead };
}

function summaryOf(meaning: string, otherwise: PeerFlag["otherwise"], instead: string): string {
  return `of published operators: ${meaning}; ${otherwise === "refuse" ? "refused" : "without effect"}: ${instead}`;
}

const plain = "metrics are served over plain HTTP; let a network policy say who may ask";
const noWebhooks = "there are no webhooks, the API server itself checks";
const isTimeWord = (value: string | boolean): boolean => ["iso8601", "rfc3339", "rfc3339nano"].includes(String(value));

const peerFlagTable: readonly PeerFlag[] = [
  flag("metrics-secure", "metrics over TLS", off, "refuse", plain),
  text("metrics-cert-path", "folder of the metrics' certificate", off, "refuse", plain),
  text("metrics-cert-name", "file of it", (value) => value === "tls.crt", "warn", plain),
  text("metrics-cert-key", "file of its key", (value) => value === "tls.key", "warn", plain),
  text("webhook-cert-path", "folder of the webhooks' certificate", off, "refuse", noWebhooks),
  text("webhook-cert-name", "file of it", (value) => value === "tls.crt", "warn", noWebhooks),
  text("webhook-cert-key", "file of its key", (value) => value === "tls.key", "warn", noWebhooks),
  flag("enable-http2", "HTTP/2 for metrics and webhooks", off, "warn", "metrics and probes are served over HTTP/1.1"),
  text("zap-stacktrace-level", "stack traces from this level on", never, "warn", "errors carry them in the field err"),
  text("zap-time-encoding", "how times are written", isTimeWord, "warn", "times are ISO 8601"),
];

/** Those that are recognised and do nothing. */
export const peerFlags: readonly FlagSpec[] = peerFlagTable.map(({ spec }) => spec);

/** Those that mean what a setting of ours means; that has the first word. */
export const zapFlags: readonly FlagSpec[] = [
  {
    name: "zap-log-level",
    kind: "string",
    value: "level",
    summary: "of published operators: as --log-level; a number is debug, panic is error",
  },
  { name: "zap-encoder", kind: "string", value: "json|console", summary: "of published operators: as LOG_JSON" },
  { name: "zap-devel", kind: "boolean", summary: "of published operators: as DEVELOPMENT" },
];

/**
 * Which of them were given in vain.
 *
 * @throws CliError with exit code 2 for one that asks for what is not built
 */
export function ineffectiveFlags(flags: FlagValues): readonly { readonly variable: string; readonly instead: string }[] {
  return peerFlagTable.flatMap(({ spec: { name }, isInert, otherwise, instead }) => {
    const value = flags[name];
    if ((typeof value !== "string" && typeof value !== "boolean") || isInert(value)) return [];
    if (otherwise === "warn") return [{ variable: `--${name}`, instead }];
    throw new CliError(`--${name} asks for what this operator does not do: ${instead}`, `Leave --${name} out.`, { exitCode: 2 });
  });
}
