import { withAssignedSwitches } from "./assigned-switches.ts";
import { CliError, errorCode } from "./cli-error.ts";
import { commandGroups, commands } from "./commands/index.ts";
import { stopBySignal } from "./process/stop-by-signal.ts";
import { createProgram, isUsageExit } from "./program.ts";

const VERSION = "0.1.0";

/** Failures whose message says what happened and what to do: a stack would only hide it. */
const OUR_ERRORS: ReadonlySet<string> = new Set([
  "ApiServerError",
  "KubeApiError",
  "TalosError",
  "ConfigError",
  "SimulatorError",
  "OperatorError",
]);

const stopped = stopBySignal(process, () => performance.now());
const context = { signal: stopped, stdout: process.stdout, stderr: process.stderr };
/** Whoever read the output has left, as `| head` does: nothing remains to be said. The code is that of a process that SIGPIPE ends. */
process.stdout.on("error", (error) => {
  if (errorCode(error) !== "EPIPE") report(error);
  process.exit(errorCode(error) === "EPIPE" ? 141 : undefined);
});
/** What nobody waited for, for example a disk that is full when a machine's state is written. */
process.on("uncaughtException", (error) => {
  report(error);
  process.exit();
});
try {
  const words = withAssignedSwitches(process.argv.slice(2), commands);
  await createProgram(commands, VERSION, context, commandGroups).parseAsync(words, { from: "user" });
} catch (error) {
  report(error);
}

// Sockets that a peer keeps open are no reason to stay.
process.exit();

function report(error: unknown): void {
  if (isUsageExit(error)) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else if (error instanceof CliError) {
    if (!stopped.aborted) process.stderr.write(`error: ${error.message}\n       ${error.remedy}\n`);
    process.exitCode = stopped.aborted ? 130 : error.exitCode;
  } else if (error instanceof Error && OUR_ERRORS.has(error.name)) {
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = 1;
  } else {
    process.stderr.write(`error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  }
}
