import { quoteGo } from "../go-print.ts";
import { badRequest } from "./status.ts";

/**
 * A number in a query; 0 where there is none, or one below it.
 *
 * @throws 400 for what is no whole number, in the words of Go's parser
 */
export function parseCount(text: string): number {
  if (text === "") return 0;
  if (!/^[+-]?\d{1,15}$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text.slice(0, 100))}: invalid syntax`);
  return Math.max(0, Number(text));
}
