import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { CommandContext, CommandSpec, FlagSpec, FlagValues } from "./command.ts";

/** Builds the command line from the declared commands. Nothing is printed or run before `parseAsync`. */
export function createProgram(commands: readonly CommandSpec[], version: string, context: CommandContext): Command {
  const program = new Command("talos-operator")
    .description("Operator for Talos Linux clusters, with a simulated datacenter and an embedded Kubernetes API.")
    .version(version)
    .showHelpAfterError("(add --help for the flags)")
    .exitOverride()
    .configureOutput({ writeOut: (text) => context.stdout.write(text), writeErr: (text) => context.stderr.write(text) });
  for (const spec of commands) program.addCommand(createCommand(spec, context));
  return program;
}

/** True for what commander throws after it printed help, a version or a usage error by itself. */
export function isUsageExit(error: unknown): error is CommanderError {
  return error instanceof CommanderError;
}

function createCommand(spec: CommandSpec, context: CommandContext): Command {
  const command = new Command(spec.name)
    .summary(spec.summary)
    .description(spec.description === undefined ? spec.summary : `${spec.summary}\n\n${spec.description}`)
    .showHelpAfterError("(add --help for the flags)")
    .exitOverride()
    .configureOutput({ writeOut: (text) => context.stdout.write(text), writeErr: (text) => context.stderr.write(text) })
    .allowExcessArguments(false);
  for (const flag of spec.flags) command.addOption(createOption(flag));
  return command.action(async (options: Record<string, unknown>) => spec.run(flagValues(spec.flags, options), context));
}

function createOption(flag: FlagSpec): Option {
  const negated = flag.kind === "boolean" && flag.default === true;
  const syntax = flag.kind === "boolean" ? `--${negated ? "no-" : ""}${flag.name}` : `--${flag.name} <${flag.value ?? flag.kind}>`;
  const option = new Option(syntax, flag.summary);
  if (flag.required === true) option.makeOptionMandatory();
  if (flag.kind === "number") option.argParser((text) => parseNumber(text, flag));
  if (!negated && flag.default !== undefined) option.default(flag.default);
  return option;
}

function parseNumber(text: string, flag: FlagSpec): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError(`"${text}" is not a number.`);
  if (flag.min !== undefined && value < flag.min) throw new InvalidArgumentError(`It must be at least ${flag.min}.`);
  if (flag.max !== undefined && value > flag.max) throw new InvalidArgumentError(`It must be at most ${flag.max}.`);
  if (flag.isCount === true && !Number.isInteger(value)) throw new InvalidArgumentError("It must be a whole number.");
  return value;
}

function flagValues(specs: readonly FlagSpec[], options: Record<string, unknown>): FlagValues {
  const values: Record<string, string | number | boolean | undefined> = {};
  for (const { name } of specs) {
    const value = options[name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") values[name] = value;
  }
  return values;
}
