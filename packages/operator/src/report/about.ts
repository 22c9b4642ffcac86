/** What follows a name that stands for itself: another name may begin with the same letters. */
const AFTER_NAME = /^[\s:,;]/;

/** Words about a machine, with its name before them unless they begin with it. */
export function aboutMachine(name: string, words: string): string {
  return words.startsWith(name) && AFTER_NAME.test(words.slice(name.length)) ? words : `${name}: ${words}`;
}

/** Words that call the machine `it`, as a sentence that begins with its name; others with the name before them. */
export function sentenceAbout(name: string, words: string): string {
  return words.startsWith("it ") ? `${name}${words.slice(2)}` : aboutMachine(name, words);
}
