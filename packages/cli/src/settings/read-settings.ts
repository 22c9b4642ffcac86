import { CliError } from "../cli-error.ts";
import type { FlagValues } from "../command.ts";
import { ineffectiveFlags } from "./peer-flags.ts";
import { foreignVariables, variables, type Variable } from "./variables.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

type Names = keyof typeof variables;
type ValueOf<K extends Names> = (typeof variables)[K] extends Variable<infer T> ? T : never;

/** Values of all settings, and what to say about the environment once there is a log. */
export interface Settings {
  readonly values: { readonly [K in Names]: ValueOf<K> };
  /** Settings that a flag or the environment gave. */
  readonly given: ReadonlySet<Names>;
  /** Variables and flags that are set and have no effect: name, and why nothing is lost. */
  readonly ineffective: readonly { readonly variable: string; readonly instead: string }[];
}

/** Flags that mean the same as a variable, the strongest first; all win over it. */
const flagsOf: Partial<Record<Names, readonly { readonly flag: string; readonly textOf?: (value: string) => string }[]>> = {
  logLevel: [{ flag: "log-level" }, { flag: "zap-log-level", textOf: zapLevel }],
  logJson: [{ flag: "zap-encoder", textOf: zapEncoder }],
  development: [{ flag: "zap-devel" }],
  metricsAddress: [{ flag: "metrics-bind-address" }],
  healthAddress: [{ flag: "health-probe-bind-address" }],
  machineRefNamespaces: [{ flag: "machine-ref-namespaces" }],
  requireBackupStoreLabel: [{ flag: "require-backup-store-label" }],
  backupEndpoints: [{ flag: "backup-endpoints" }],
  backupIdentityNamespaces: [{ flag: "backup-identity-namespaces" }],
  otlpEndpoint: [{ flag: "otlp-endpoint" }],
};

/**
 * Reads flags and environment.
 *
 * @throws CliError with exit code 2 that names the variable or flag whose value is none, or which asks for what is not built
 */
export function readSettings(flags: FlagValues, env: Environment): Settings {
  const given = new Set<Names>();
  const read = <K extends Names>(key: K): ValueOf<K> => {
    const variable = variables[key] as Variable<ValueOf<K>>;
    for (const { flag, textOf } of flagsOf[key] ?? []) {
      const value = flags[flag];
      if (typeof value !== "string" && typeof value !== "boolean") continue;
      given.add(key);
      return valueOf(variable, textOf === undefined ? String(value) : textOf(String(value)), `--${flag}`);
    }
    const text = env[variable.name];
    if (text !== undefined) given.add(key);
    return valueOf(variable, text ?? variable.default, variable.name);
  };
  const all = Object.fromEntries((Object.keys(variables) as Names[]).map((key) => [key, read(key)])) as Settings["values"];
  // A flag wins over every variable of the same meaning, and this one has two.
  const wanted = typeof flags["otlp-endpoint"] === "string" ? { ...all, tracesEndpoint: "" } : all;
  const isRefused = flags["enable-tracing"] === false;
  const values = isRefused ? { ...wanted, otlpEndpoint: "", tracesEndpoint: "" } : wanted;
  if (flags["enable-tracing"] === true && values.otlpEndpoint === "" && values.tracesEndpoint === "")
    throw new CliError("--enable-tracing: nothing says where traces go", "Add --otlp-endpoint, or leave it out.", { exitCode: 2 });
  const ineffective = foreignVariables.flatMap((variable) => {
    const text = env[variable.name];
    if (text === undefined || valueOf(variable, text, variable.name) === valueOf(variable, variable.default, variable.name)) return [];
    if (variable.otherwise === "warn") return [{ variable: variable.name, instead: variable.instead }];
    throw new CliError(
      `${variable.name}=${text} asks for what this operator does not do: ${variable.summary}`,
      `Unset it: ${variable.instead}.`,
      { exitCode: 2 },
    );
  });
  return {
    values: values.development ? developing(values, given) : values,
    given,
    ineffective: [...ineffective, ...ineffectiveFlags(flags)],
  };
}

function developing(values: Settings["values"], given: ReadonlySet<Names>): Settings["values"] {
  return {
    ...values,
    ...(given.has("logLevel") ? {} : { logLevel: "debug" }),
    ...(given.has("logJson") ? {} : { logJson: false }),
  };
}

function valueOf<T>(variable: Variable<T>, text: string, name: string): T {
  const outcome = variable.read(text);
  if ("value" in outcome) return outcome.value;
  const otherwise = variable.default === "" ? "" : ` for ${variable.default}`;
  throw new CliError(`${name}: ${JSON.stringify(text)} ${outcome.problem}`, `Correct ${name}, or leave it out${otherwise}.`, {
    exitCode: 2,
  });
}

/** As controller-runtime takes it: a word, or a number that says how much of debug is wanted. */
function zapLevel(value: string): string {
  return /^\d+$/.test(value) ? "debug" : value === "panic" ? "error" : value;
}

function zapEncoder(value: string): string {
  return { json: "true", console: "false" }[value] ?? value;
}
