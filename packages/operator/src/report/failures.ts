/** Why settings did not come into force, for people: kept in the record, and told in the condition `ConfigUpToDate`. Without a full stop; nothing reads them. */
export const failureWords = {
  refused: (words: string): string => `it refused them: ${words}`,
  notKept: (words: string): string => `it refused them: it tried them, and would not keep them (${words})`,
  trialStays: (trouble: string): string => `it runs the tried configuration and does not end the trial, and ${trouble}`,
  bootedInTrial: (): string => "it was booted during the trial, which ended it",
  unwellInTrial: (trouble: string): string => `while it tried them, ${trouble}; it took them back by itself`,
  replacedInTrial: (): string => "while it tried them, somebody else gave it another configuration, which is in force now",
  notToldToKeep: (): string => "it took them back before it was told to keep them",
  neverInForce: (): string => "nobody knows whether the configuration arrived; it is not in force",
  neverOnDisk: (): string => "nobody knows whether the configuration arrived; it is not on the disk",
  unwellAfterBoot: (trouble: string | undefined): string => `after its reboot ${trouble ?? "it does not report its configuration"}`,
  otherAfterBoot: (): string => "after the boot another configuration than the staged one is in force",
  unwellWithMeta: (trouble: string): string => `its META may hold the new static network settings, and ${trouble}`,
  neverInMeta: (): string => "nobody knows whether the static network settings arrived; they are not in META",
  times: (why: string, tries: number): string => `${why}, ${tries} times`,
} as const;
