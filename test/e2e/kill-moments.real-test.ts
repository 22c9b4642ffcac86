// Genuine parts: kubectl
import { describe, it } from "node:test";
import { killsDuringCreation } from "./kills.ts";

/** What `kill.real-test.ts` shows once, at forty moments of a creation. */
describe("kill -9 at any moment of a creation", { concurrency: false }, () => {
  for (const { name, play } of killsDuringCreation({ manager: 20, api: 10, demo: 10 })) it(name, play);
});
