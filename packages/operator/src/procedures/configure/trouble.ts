/** What is wrong with a machine during a trial, and when that was seen last. */
export interface Trouble {
  readonly at: number;
  readonly why: string;
}
