/** 4, 6 or 0 for a text that is an address or a prefix of that family, or neither. */
export function isIP(text: string): 0 | 4 | 6 {
  const [address = ""] = text.split("/");
  if (/^\d+\.\d+\.\d+\.\d+$/.test(address)) return 4;
  return address.includes(":") ? 6 : 0;
}
