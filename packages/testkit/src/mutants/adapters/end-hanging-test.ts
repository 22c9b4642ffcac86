/** Exit code of a process whose test waits for something that cannot come. */
export const HANGS = 86;

/** Looks, a second apart, that find nothing under way before the process ends. */
const LOOKS = 10;

/**
 * Ends the process with exit code {@link HANGS} when a test waits for ever.
 *
 * The event loop runs empty when all tests are done, and when one awaits a promise that nothing resolves. node:test ends the process in the
 * first case, and keeps it alive by a timer in the second.
 */
export function endHangingTest(): void {
  process.once("beforeExit", () => {
    let idle = 0;
    setInterval(() => {
      idle = process.getActiveResourcesInfo().every((name) => name === "Timeout" || name === "PipeWrap") ? idle + 1 : 0;
      if (idle === LOOKS) process.exit(HANGS);
    }, 1_000).unref();
  });
}
