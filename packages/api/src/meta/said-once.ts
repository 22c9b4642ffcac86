/** A condition, as far as it says something. */
interface Saying {
  readonly type: string;
  readonly message?: string;
}

/** The message of a condition that says what another one says. */
const REFERENCE = /^See (?:the condition )?([A-Z][A-Za-z]*)\.$/;

/** Where a sentence stands that several conditions say: what a person has to do, or else what the object waits for, or what goes on. After these, the first that says it. */
const HOLDERS = ["Stalled", "Ready", "UpgradePending"];

/** Shorter ones say something else where they stand: `Pending.` */
const SHORTEST = 24;

/** The conditions of one object with each sentence once: one that says what another one says already names that one, as in `See Ready.`. Pure. */
export function saidOnce<T extends Saying & { readonly message: string }>(conditions: readonly T[]): readonly T[] {
  const holders = HOLDERS.flatMap((type) => conditions.filter((one) => one.type === type));
  return conditions.map((condition, index) => {
    const { type } = condition;
    const { message } = spelledOut(conditions, condition);
    if (message.length < SHORTEST && message === condition.message) return condition;
    const above = HOLDERS.includes(type) ? holders.slice(0, HOLDERS.indexOf(type)).filter((one) => one.type !== type) : holders;
    const holder =
      above.find((one) => one.message.includes(message)) ??
      (HOLDERS.includes(type) ? undefined : conditions.slice(0, index).find((one) => one.message === message));
    return holder === undefined ? condition : { ...condition, message: `See ${holder.type}.` };
  });
}

/** What a condition says, in the words of the one that it names. */
function messageOf(conditions: readonly Saying[], { type, message = "" }: Saying, hops = HOLDERS.length): string {
  const [, named] = REFERENCE.exec(message) ?? [];
  const other = named === undefined || named === type ? undefined : conditions.find((one) => one.type === named);
  return other === undefined || hops === 0 ? message : messageOf(conditions, other, hops - 1);
}

/** One condition with what it says, whether it says it itself or names another one; the same where it does. */
export function spelledOut<T extends Saying>(conditions: readonly T[], condition: T): T {
  const message = messageOf(conditions, condition);
  return message === condition.message ? condition : { ...condition, message };
}
