/** Suffixes of quantities of 1 and more, as Kubernetes writes them. */
export const quantityUnits: Readonly<Record<string, number>> = {
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** Bytes of a quantity such as `8Gi`, `500M` or 1048576, rounded up; `undefined` for what is no positive size, or more than 2^53 bytes. */
export function byteSize(quantity: number | string): number | undefined {
  const [, number = "", unit = ""] = /^\+?(\d{1,16}(?:\.\d{1,9})?)([A-Za-z]{0,2})$/.exec(String(quantity)) ?? [];
  const factor = quantityUnits[unit];
  if (number === "" || factor === undefined) return undefined;
  const bytes = Math.ceil(Number(number) * factor);
  return bytes >= 1 && bytes <= Number.MAX_SAFE_INTEGER ? bytes : undefined;
}
