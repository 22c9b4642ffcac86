/**
 * Milliseconds since `since`, for pauses and for the age of copies; endless when the clock was set back meanwhile.
 *
 * A clock that somebody sets back an hour must not make the operator wait that hour. So whatever is kept for a while counts as old then:
 * read again, or tried again, which must be harmless. What must not happen too early is counted by a timer instead.
 */
export function elapsedMs(since: number, now: number): number {
  return now < since ? Number.POSITIVE_INFINITY : now - since;
}

/** `102 s`, and from ten minutes on `17 min`. */
export function timeWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 600 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
