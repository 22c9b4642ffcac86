/** Under these names stands what everybody may see: certificates, ids, versions. */
const PUBLIC = /^(crt|ca|certificate|id|clustername|recordname|accessKeyID|kind|apiVersion|record)$/i;
/** Shorter texts are words. */
const SHORTEST = 12;

/** Every text of an object that nobody may see. Of a key in PEM, its lines; of a text that holds YAML or JSON, as it is by lines. */
export function secretTexts(value: unknown, name = ""): readonly string[] {
  if (typeof value === "string") {
    if (PUBLIC.test(name)) return [];
    return pemLines(value) ?? [value.trim()].filter((text) => text.length >= SHORTEST && !text.includes("\n"));
  }
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one) => secretTexts(one, name));
  return Object.entries(value).flatMap(([key, inner]) => secretTexts(inner, key));
}

/** The lines between the marks; the first says which kind of key it is, in every key alike. */
function pemLines(text: string): readonly string[] | undefined {
  const plain = text.startsWith("LS0tLS1") ? Buffer.from(text, "base64").toString() : text;
  if (!plain.startsWith("-----BEGIN")) return undefined;
  if (!plain.includes("PRIVATE KEY")) return [];
  const lines = plain.split("\n").filter((line) => line.length >= SHORTEST && !line.startsWith("-----"));
  return lines.length > 1 ? lines.slice(1) : lines.map((line) => line.slice(-40));
}

/** Those of `secrets` that stand in `bytes`: as they are, in hexadecimal, or in base64 wherever it begins. */
export function findTraces(bytes: Uint8Array, secrets: readonly string[]): readonly string[] {
  const text = Buffer.from(bytes).toString("latin1");
  const lower = text.toLowerCase();
  return secrets.filter((secret) => {
    const hex = Buffer.from(secret).toString("hex");
    return text.includes(secret) || lower.includes(hex) || inBase64(secret).some((one) => text.includes(one));
  });
}

/** How a text looks inside of a longer one: three ways, by what stands before it, without the digits that its neighbours share. */
function inBase64(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
      .toString("base64")
      .replaceAll("=", "");
    const whole = digits.slice(before === 0 ? 0 : before + 1, -1);
    return whole.length >= SHORTEST ? [whole, whole.replaceAll("+", "-").replaceAll("/", "_")] : [];
  });
}
