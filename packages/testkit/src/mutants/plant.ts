import { registerHooks } from "node:module";
import type { Mutant } from "./mutant.ts";

/** From now on, loads the product with the mutant's edits. To be called before the first import of what it edits. */
export function plantMutant(mutant: Mutant): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const edits = mutant.edits.filter(({ file }) => url.endsWith(`/packages/${file}`));
      if (edits.length === 0) return loaded;
      let source = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
      for (const { file, find, replace } of edits) {
        const count = source.split(find).length - 1;
        if (count !== 1)
          throw new Error(`mutant ${mutant.name}: the text to replace occurs ${count} times in ${file}; bring the mutant up to date`);
        source = source.replace(find, () => replace);
      }
      return { ...loaded, source };
    },
  });
}
