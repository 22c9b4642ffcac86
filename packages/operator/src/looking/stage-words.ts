import type { Running } from "../model/look.ts";

/** Stages in which a machine comes up by itself, and its node with it. */
const COMING_UP: ReadonlySet<string> = new Set(["installing", "booting", "rebooting", "upgrading"]);

/** Stages by name, as COSI MachineStatus has them, in words. */
const WORDS: Readonly<Record<string, string>> = {
  installing: "Installing Talos",
  booting: "Booting",
  rebooting: "Rebooting",
  "shutting down": "Shutting down",
  resetting: "Resetting",
  upgrading: "Upgrading Talos",
  maintenance: "In maintenance mode",
  running: "Running",
};

/** What a machine does by the stage that it shows. */
export function stageWords(stage: string | undefined): string {
  if (stage === undefined) return "State unknown";
  return WORDS[stage] ?? `Stage ${stage}`;
}

/** Whether a machine comes up by itself. One that boots and names what it lacks may wait for that for ever. */
export function isComingUp({ stage, unmet }: Pick<Running, "stage" | "unmet">): boolean {
  return stage !== undefined && COMING_UP.has(stage) && (stage !== "booting" || unmet.length === 0);
}
