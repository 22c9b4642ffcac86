/** What Go's `net/url` leaves as it is in a part of a URL, beside letters, digits and `-_.~`. */
const KEPT_IN = { query: "", path: "$&+=:@", login: "$&+,;=", whole: "$&+,/:;=@" };

/**
 * A text as Go writes it into an error: as JSON, with and without the escapes that keep it out of HTML, as HTML, and in each part of a URL; and as a Secret has
 * it. The text itself is the first.
 */
export function escapedForms(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1);
  return [
    text,
    json,
    json.replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`),
    text.replace(/[&<>"']/g, (one) => HTML[one] ?? one),
    ...Object.values(KEPT_IN).map((kept) => percentEscaped(text, kept)),
    percentEscaped(text, "").replaceAll("%20", "+"),
    Buffer.from(text).toString("base64"),
  ];
}

/** As `html.EscapeString` writes them. */
const HTML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" };

function percentEscaped(text: string, kept: string): string {
  const all = encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  if (kept === "") return all;
  return all.replace(/%([0-7][0-9A-F])/g, (escape: string, hex: string) => {
    const one = String.fromCharCode(Number.parseInt(hex, 16));
    return kept.includes(one) ? one : escape;
  });
}
