/** Cases in which the embedded API answers differently on purpose or for lack of a part, each with the reason. */
export const knownDifferences: Readonly<Record<string, string>> = {
  "a CRD: int-or-string with a type": "conditions of a CRD that was only tried are null there and an empty list here",
  "a CRD: a format that nobody checks": "conditions of a CRD that was only tried are null there and an empty list here",
};
