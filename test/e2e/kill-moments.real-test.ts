// Genuine parts: kubectl
import { describe } from "node:test";
import { itSurvives } from "./kills.ts";

/** What `kill.real-test.ts` shows once, at forty moments of a creation. */
describe("kill -9 at any moment of a creation", { concurrency: false }, () => itSurvives({ manager: 20, api: 10, demo: 10 }));
