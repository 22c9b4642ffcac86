/**
 * Feeds every bomb to the readers, in a process of its own whose memory is limited. Prints one JSON line each; run by `too-much.real-test.ts`.
 *
 * What is as large as it may be goes to all readers, the rest to the three that have limits of their own.
 */
import { isConfigError } from "../../index.ts";
import { bombs } from "../bombs.ts";
import { readers } from "../readers.ts";

for (const [bomb, write] of Object.entries(bombs)) {
  const text = write();
  for (const { name, read, isGate } of readers) {
    if (isGate !== true && !bomb.includes("as are read")) continue;
    const begun = Date.now();
    let outcome = "read";
    try {
      read(text);
    } catch (thrown) {
      outcome = isConfigError(thrown) ? thrown.code : `threw ${String(thrown)}`;
    }
    process.stdout.write(`${JSON.stringify({ bomb, reader: name, outcome, ms: Date.now() - begun })}\n`);
  }
}
