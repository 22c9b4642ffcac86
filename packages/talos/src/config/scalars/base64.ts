/** Standard base64 without line breaks, or the text with which Go refuses. */
export function parseBase64(text: string): { readonly text: string } | { readonly refusal: string } {
  if (text.length % 4 === 0 && whole.test(text)) return { text };
  const packed = text.replace(/[\r\n]/g, "");
  const bad = firstBad(packed);
  return bad === undefined ? { text: packed } : { refusal: `illegal base64 data at input byte ${bad}` };
}

const whole = /^[A-Za-z0-9+/]*={0,2}$/;

function firstBad(text: string): number | undefined {
  const match = /^[A-Za-z0-9+/]*/.exec(text) as RegExpExecArray;
  const rest = text.slice(match[0].length);
  const isWhole = text.length % 4 === 0 && /^={0,2}$/.test(rest) && (match[0].length + rest.length) % 4 === 0;
  return isWhole ? undefined : match[0].length;
}
