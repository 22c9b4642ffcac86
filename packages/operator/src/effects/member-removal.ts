import { noteNotSent } from "./attempt.ts";
import type { Ending } from "./attempt.ts";
import { rememberedAs } from "./define.ts";
import type { Retry } from "./define.ts";
import type { Effects } from "./ports.ts";

/** What comes of a member that was to be taken out of etcd's list. @param refused says who refused what */
export function endRemoval(ending: Ending, retry: Retry, memberId: string, effects: Effects, refused: (words: string) => string): void {
  const key = rememberedAs({ retry }, memberId);
  if (ending.kind === "not-sent") noteNotSent(key, ending, effects);
  if (ending.kind !== "refused") return;
  // Somebody was first: what was wanted.
  if (ending.code === "NOT_FOUND") effects.session.noteSent(key, "answered", "");
  else effects.event("MemberRemovalFailed", retry.word, refused(ending.words));
}
