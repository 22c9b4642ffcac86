/** For `node --import`: plants the mutant that the environment names before a test loads the product. */
import { mutants } from "../index.ts";
import { readIndependent } from "../independent/adapters/lists.ts";
import { mutantOf } from "../independent/fault.ts";
import { plantMutant } from "../plant.ts";
import { endHangingTest } from "./end-hanging-test.ts";

const name = process.env["TALOS_OPERATOR_MUTANT"];
const found =
  mutants.find((mutant) => mutant.name === name) ??
  readIndependent()
    .map((fault) => mutantOf(fault))
    .find((mutant) => mutant.name === name);
if (found === undefined) throw new Error(`there is no mutant "${name ?? ""}"`);
plantMutant(found);
endHangingTest();
