/** A line for what the demo goes on without: what is missing, why, and the flag that helps. */
export function notServed(
  what: string,
  { port, why, flag }: { readonly port: number; readonly why: string; readonly flag: string },
): string {
  const state = why === "EADDRINUSE" ? "is in use" : `cannot be used (${why})`;
  return `warning: 127.0.0.1:${port} ${state}, so ${what}: choose another port with --${flag}.\n`;
}
