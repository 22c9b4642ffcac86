import { createSqliteStore } from "./sqlite-store.ts";

// A process that writes until it is killed. Each line on stdout is the revision of a write that the store has acknowledged.
const path = process.argv[2] ?? "";
const store = createSqliteStore(path);
let revision = store.load().revision;
process.stdout.write("ready\n");
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
  process.stdout.write(`${revision}\n`);
}
setInterval(() => undefined, 1000);
