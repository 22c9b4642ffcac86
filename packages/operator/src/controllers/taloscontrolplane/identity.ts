/**
 * True when a machine shows another SMBIOS UUID than was written down for it. Where either has none, as in containers, nothing is known.
 */
export function isOtherMachine(writtenDown: string, shown: string | undefined): boolean {
  return writtenDown !== "" && shown !== undefined && shown !== writtenDown;
}
