/** A configuration that is well formed and that the operator does not send. The message names what, and the remedy; never a value. */
export class ConfigRefusal extends Error {
  override readonly name = "ConfigRefusal";
}
