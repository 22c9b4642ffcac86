import type { Environment } from "@marcbachmann/cel-js";
import { createCelEnvironment } from "./library.ts";

let library: Environment | undefined;
let untyped: Environment | undefined;

/** The library without variables, to be cloned per schema. Built on first use, like the other. */
export function libraryEnvironment(): Environment {
  library ??= createCelEnvironment();
  return library;
}

/** The environment in which rules are evaluated: their types were checked when the CRD was compiled. */
export function untypedEnvironment(): Environment {
  untyped ??= libraryEnvironment().clone().registerVariable("self", "dyn").registerVariable("oldSelf", "dyn");
  return untyped;
}
