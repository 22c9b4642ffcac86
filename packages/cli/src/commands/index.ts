import type { CommandSpec } from "../command.ts";
import { apiserverCommand } from "./apiserver.ts";
import { demoCommand } from "./demo.ts";
import { managerCommand } from "./manager.ts";
import { simulatorCommand } from "./simulator.ts";
import { standaloneCommand } from "./standalone.ts";

/** Every command, in the order of help. */
export const commands: readonly CommandSpec[] = [demoCommand, managerCommand, standaloneCommand, apiserverCommand, simulatorCommand];
