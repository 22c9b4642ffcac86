/** A condition's reason and message before it is put under its type. */
export interface Said<R extends string> {
  readonly reason: R;
  readonly message: string;
}
