/** Words that YAML of kubectl turns into booleans, by what arrives. */
const turned: Readonly<Record<string, readonly string[]>> = { false: ["off", "no"], true: ["on", "yes"] };

/** What to write, for refusals of Talos whose words do not say it; `undefined` = they do, or nobody knows. */
export function adviceFor(words: string): string | undefined {
  if (words.includes("'auto' and 'hostname' cannot be set at the same time"))
    return 'Write auto: "off" beside hostname: the generated config has auto: stable';
  const [, field, given = "", allowed = ""] = /([\w.[\]]+): "(true|false)" is not one of ([^.]+)/.exec(words) ?? [];
  const word = turned[given]?.find((one) => allowed.split(", ").includes(one));
  if (field === undefined || word === undefined) return undefined;
  const key = field.split(".").at(-1) ?? field;
  return `Write ${key}: "${word}" in quotes: the Kubernetes API turned a bare ${word} into ${given}`;
}
