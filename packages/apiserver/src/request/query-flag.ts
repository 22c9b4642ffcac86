/** A boolean in a query, as Kubernetes reads all of them: whatever is there, and does not say no, is a yes. */
export function isYes(text: string | undefined): boolean {
  return text !== undefined && !/^(?:false|0)$/i.test(text);
}
