import { parseUrl } from "./url.ts";

const repository = /^[a-z0-9_./-]{2,255}$/;
const tag = /^[A-Za-z0-9_.-]{1,128}$/;

/** Whether Talos can read an image reference: `nginx`, `registry.example.org:5000/a/b:1.0`, `a/b@sha256:…`. */
export function isImageReference(text: string): boolean {
  const [base = "", digest, ...more] = text.split("@");
  if (isTagged(text)) return true;
  return digest !== undefined && more.length === 0 && /^sha256:[0-9a-f]{64}$/.test(digest) && (isTagged(base) || isRepository(base));
}

function isTagged(text: string): boolean {
  const at = text.lastIndexOf(":");
  const last = text.slice(at + 1);
  // What follows the port of a registry is no tag.
  return at < 0 || last.includes("/") ? isRepository(text) : tag.test(last) && isRepository(text.slice(0, at));
}

function isRepository(text: string): boolean {
  const slash = text.indexOf("/");
  const first = slash < 0 ? "" : text.slice(0, slash);
  const hasRegistry = first === "localhost" || /[.:]/.test(first);
  if (!hasRegistry) return repository.test(text);
  const parsed = parseUrl(`//${first}`);
  return repository.test(text.slice(slash + 1)) && !("refusal" in parsed) && parsed.url.host === first;
}
