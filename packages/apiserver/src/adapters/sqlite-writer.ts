import { writeSync } from "node:fs";
import { createSqliteStore } from "./sqlite-store.ts";

// A process that writes until it is killed. Each line on stdout is the revision of a write that the store has acknowledged.
const path = process.argv[2] ?? "";
const maxLogBytes = Number(process.argv[4] ?? 0);
const store = createSqliteStore(path, maxLogBytes === 0 ? {} : { maxLogBytes });
let revision = store.load().revision;
say("ready");
while (process.argv[3] !== "hold") {
  revision++;
  // Every third write deletes what the one before it wrote, so that deletions are part of what must survive.
  if (revision % 3 === 0) {
    store.commit({ resource: "/configmaps", key: `default/c-${revision - 1}`, revision });
  } else {
    store.commit({
      resource: "/configmaps",
      key: `default/c-${revision}`,
      revision,
      object: { metadata: { name: `c-${revision}` }, data: { x: "y".repeat(500) } },
    });
  }
  say(String(revision));
}
setInterval(() => undefined, 1000);

// Not `process.stdout`: it would keep in memory what a slow reader does not take, and kill -9 would take it along.
function say(line: string): void {
  writeSync(1, `${line}\n`);
}
