import type { ConfigChange } from "@talos-operator/talos";

/** Most paths that a sentence names. */
const MOST_PATHS = 8;

/** Where configurations differ, for people: paths with the document they stand in, no values. */
export function pathsOf(changes: readonly ConfigChange[]): string {
  const paths = [...new Set(changes.map(pathOf))];
  const more = paths.length - MOST_PATHS;
  return `${paths.slice(0, MOST_PATHS).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** One changed place: the path inside v1alpha1, or the document's name before it. */
function pathOf({ document, path }: ConfigChange): string {
  const [, kind = "", name = ""] = document.split("/");
  const where = kind === "v1alpha1" || kind === "" ? "" : name === "" ? kind : `${kind}/${name}`;
  return [where, path].filter((part) => part !== "").join(" ");
}

/** A change with its values, for a report; secrets are hidden in them already. Cut to a bounded length. */
export function changeText(change: ConfigChange): string {
  const value = (text: string | undefined): string => (text === undefined ? "nothing" : short(text.replaceAll(/\s+/g, " ")));
  return change.path === ""
    ? `${pathOf(change)} (${change.change})`
    : `${pathOf(change)}: ${value(change.before)} → ${value(change.after)}`;
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
