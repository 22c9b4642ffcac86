// Preloaded by `npm test`: Node's test runner watches every promise of a test file from its birth to its collection, to name the test that a stray error
// belongs to. Files that simulate clusters make millions, and spent up to half of their time on that. Which test belongs to which suite is told by other
// resources than promises, and they are watched as before. A stray error still fails its file; it is then reported with its stack alone.
// `node --test FILE` does without this, when the name is what one is looking for.
import hooks from "node:async_hooks";

const { createHook } = hooks;

// The runner asks once, when `node:test` is first imported.
hooks.createHook = (callbacks) => {
  hooks.createHook = createHook;
  return createHook({ ...callbacks, trackPromises: false });
};
