/** What is wrong with a config, and what is only discouraged; in the order in which Talos finds it. */
export class Report {
  readonly errors: string[] = [];
  readonly warnings: string[] = [];

  error(...texts: readonly string[]): void {
    this.errors.push(...texts);
  }

  errorIf(isWrong: boolean, text: string): void {
    if (isWrong) this.errors.push(text);
  }

  warning(text: string): void {
    this.warnings.push(text);
  }
}

/** Errors as Talos prints a list of them. */
export function listOf(errors: readonly string[]): string {
  return `${errors.length} error${errors.length === 1 ? "" : "s"} occurred:\n${errors.map((error) => `\t* ${error}\n`).join("")}\n`;
}
