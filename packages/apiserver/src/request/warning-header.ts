/**
 * Letters of all warnings of one answer. Beyond them each is cut, and then no more are said: clients refuse an answer whose headers are large.
 *
 * @see kubernetes `staging/src/k8s.io/apiserver/pkg/endpoints/filters/warning.go`, which cuts at the same places
 */
const maxTotalLetters = 4096;
const maxItemLetters = 256;

/** The `Warning` header of an answer; undefined when there is nothing to warn of. */
export function warningHeader(warnings: readonly string[]): string | undefined {
  const texts = [...new Set(warnings)];
  const letters = texts.reduce((sum, text) => sum + lettersOf(text), 0);
  const said = letters <= maxTotalLetters ? texts : cut(texts);
  return said.length === 0 ? undefined : said.map((text) => `299 - "${quoted(text)}"`).join(", ");
}

function cut(texts: readonly string[]): readonly string[] {
  const said: string[] = [];
  let letters = 0;
  for (const text of texts) {
    if (letters >= maxTotalLetters) break;
    const short = lettersOf(text) > maxItemLetters ? Array.from(text).slice(0, maxItemLetters).join("") : text;
    said.push(short);
    letters += lettersOf(short);
  }
  return said;
}

/** Letters as Unicode counts them. */
function lettersOf(text: string): number {
  let count = 0;
  for (const _letter of text) count += 1;
  return count;
}

function quoted(text: string): string {
  return text.replaceAll(/[\\"]/g, "\\$&").replaceAll(/[\r\n]+/g, " ");
}
