import { createHash } from "node:crypto";
import { StoreFailure } from "../../store/failure.ts";

/** Pages of one list: ten million objects. */
const MOST_PAGES = 10_000;
/** A store may give a page without an object now and then, and name a next one. */
const MOST_EMPTY_PAGES = 100;

/** Ends lists that have no end: the endpoint is of the asker's choice, and may name a next page for ever. */
export interface PageGuard {
  /** @throws StoreFailure `failing` for a page that was named before, and for one too many */
  follow(mark: string, isEmpty: boolean): void;
}

/** @param name of the store, for messages */
export function createPageGuard(name: string): PageGuard {
  const seen = new Set<string>();
  let empty = 0;
  return {
    follow(mark, isEmpty) {
      // A mark may be as long as an answer.
      const short = createHash("sha256").update(mark).digest("base64");
      if (seen.has(short)) throw new StoreFailure("failing", `${name}: its list does not end: a page names an earlier one as the next.`);
      seen.add(short);
      empty = isEmpty ? empty + 1 : 0;
      if (empty > MOST_EMPTY_PAGES)
        throw new StoreFailure("failing", `${name}: its list does not end: ${MOST_EMPTY_PAGES} pages in a row were empty.`);
      if (seen.size >= MOST_PAGES)
        throw new StoreFailure("failing", `${name}: its list has more than ${MOST_PAGES} pages. Use a bucket of its own.`);
    },
  };
}
