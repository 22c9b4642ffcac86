// Genuine parts: kubectl
import { describe } from "node:test";
import { itSurvives } from "./kills.ts";

/** One `kill -9` of each process during a creation: that files, sockets and leases behave as the simulation of crashes says. */
describe("kill -9 during a creation", { concurrency: false }, () => itSurvives({ manager: 1, api: 1, demo: 1 }));
