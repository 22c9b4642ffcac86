import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { CommandContext, CommandSpec, FlagSpec, FlagValue, FlagValues } from "./command.ts";
import { commaSeparated } from "./comma-separated.ts";

/** Builds the command line from the declared commands. Nothing is printed or run before `parseAsync`. */
export function createProgram(
  commands: readonly CommandSpec[],
  version: string,
  context: CommandContext,
  groups: Readonly<Record<string, string>> = {},
): Command {
  const program = plainCommand("talos-operator", context)
    .description("Operator for Talos Linux clusters, with a simulated datacenter and an embedded Kubernetes API.")
    .version(version);
  const parents = new Map<string, Command>();
  for (const spec of commands) {
    const [group = "", name] = spec.name.split(" ");
    if (name === undefined) {
      program.addCommand(createCommand(spec, spec.name, context));
      continue;
    }
    let parent = parents.get(group);
    if (parent === undefined) {
      parent = plainCommand(group, context).description(groups[group] ?? "");
      parents.set(group, parent);
      program.addCommand(parent);
    }
    parent.addCommand(createCommand(spec, name, context));
  }
  return program;
}

function plainCommand(name: string, { stdout, stderr }: CommandContext): Command {
  return new Command(name)
    .enablePositionalOptions()
    .showHelpAfterError("(add --help for the flags)")
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) });
}

/** True for what commander throws after it printed help, a version or a usage error by itself. */
export function isUsageExit(error: unknown): error is CommanderError {
  return error instanceof CommanderError;
}

function createCommand(spec: CommandSpec, name: string, context: CommandContext): Command {
  const command = plainCommand(name, context)
    .summary(spec.summary)
    .description(spec.description === undefined ? spec.summary : `${spec.summary}\n\n${spec.description}`)
    .allowExcessArguments(false);
  const operands = spec.operands ?? [];
  for (const { name: operand, summary, isOptional } of operands)
    command.argument(isOptional === true ? `[${operand}]` : `<${operand}>`, summary);
  for (const option of spec.flags.flatMap(createOptions)) command.addOption(option);
  return command.action(async (...given: unknown[]) => {
    const options = given[operands.length] as Record<string, unknown>;
    const positional = Object.fromEntries(operands.map((operand, index) => [operand.name, given[index] as string | undefined]));
    return spec.run({ ...flagValues(spec.flags, options), ...positional }, context);
  });
}

/** A switch has two forms, of which help shows the one that changes something. */
function createOptions(flag: FlagSpec): readonly Option[] {
  const short = flag.short === undefined ? "" : `-${flag.short}, `;
  if (flag.kind === "boolean") {
    const on = new Option(`${short}--${flag.name}`, flag.summary);
    const off = new Option(`--no-${flag.name}`, flag.summary);
    if (flag.default === true) return [on.default(true).hideHelp(), off];
    return [on, off.hideHelp()];
  }
  const option = new Option(`${short}--${flag.name} <${flag.value ?? flag.kind}>`, flag.summary);
  if (flag.required === true) option.makeOptionMandatory();
  if (flag.kind === "number") option.argParser((text) => parseNumber(text, flag));
  if (flag.kind === "list") option.argParser((text, before: readonly string[] | undefined) => [...(before ?? []), ...itemsOf(text, flag)]);
  if (flag.default !== undefined && flag.kind !== "list") option.default(flag.default);
  return [option];
}

function itemsOf(text: string, flag: FlagSpec): readonly string[] {
  if (flag.isCommaSeparated !== true) return [text];
  const items = commaSeparated(text);
  if (items === undefined) throw new InvalidArgumentError("A quote in it is not closed or stands in the middle of an item.");
  return items;
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
  const values: Record<string, FlagValue | undefined> = {};
  for (const { name } of specs) {
    const value = options[name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") values[name] = value;
    else if (Array.isArray(value)) values[name] = value as readonly string[];
  }
  return values;
}
