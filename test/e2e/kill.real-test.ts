// Genuine parts: kubectl
import { describe, it } from "node:test";
import { killsDuringCreation } from "./kills.ts";

/** One `kill -9` of each process during a creation: files, sockets and leases behave as the simulation of crashes says. */
describe("kill -9 during a creation", { concurrency: false }, () => {
  for (const { name, play } of killsDuringCreation({ manager: 1, api: 1, demo: 1 })) it(name, play);
});
