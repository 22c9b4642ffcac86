/** The number of bytes, or what Go says of a text that is not base64. Line breaks are passed over. */
export function decodedLength(text: string): { readonly bytes: number } | { readonly refusal: string } {
  const refused = (at: number): { refusal: string } => ({ refusal: `illegal base64 data at input byte ${at}` });
  const digits: number[] = [];
  const skip = (from: number): number => {
    let at = from;
    while (text[at] === "\n" || text[at] === "\r") at++;
    return at;
  };
  let at = skip(0);
  while (at < text.length && /[A-Za-z0-9+/]/.test(text[at] as string)) {
    digits.push(at);
    at = skip(at + 1);
  }
  const open = digits.length % 4;
  if (at === text.length) return open === 0 ? { bytes: (digits.length / 4) * 3 } : refused(text.length - open);
  if (text[at] !== "=" || open < 2) return refused(at);
  if (open === 2) {
    const second = skip(at + 1);
    if (second === text.length) return refused(text.length);
    if (text[second] !== "=") return refused(second);
    at = second;
  }
  const after = skip(at + 1);
  return after < text.length ? refused(after) : { bytes: ((digits.length - open) / 4) * 3 + open - 1 };
}
