import { begin, type TroubleInput } from "./input.ts";

/** Helm and its workers fail in every way. Those that hang go on when it is over. */
export async function failHelm(input: TroubleInput, lastsMs: number): Promise<void> {
  await begin(input, lastsMs);
  input.failHelm(true);
  await input.timers.sleep(lastsMs);
  input.failHelm(false);
}
