const namePart = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const prefixPart = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/** What is wrong with `[prefix/]name`, in kube-apiserver's words; empty when nothing is. */
export function problemsOfQualifiedName(key: string): readonly string[] {
  const slash = key.indexOf("/");
  const prefix = slash === -1 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  const problems: string[] = [];
  if (prefix === "") {
    problems.push("prefix part must be non-empty");
  } else if (prefix !== undefined) {
    if (prefix.length > 253) problems.push("prefix part must be no more than 253 bytes");
    if (!prefixPart.test(prefix)) {
      problems.push(
        "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      );
    }
  }
  if (name === "") {
    problems.push("name part must be non-empty");
  } else if (name.length > 63) {
    problems.push("name part must be no more than 63 bytes");
  }
  if (!namePart.test(name)) {
    problems.push(
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    );
  }
  return problems;
}

/** What is wrong with a label or annotation key: as above, with words of its own for one of more than two parts. */
export function problemsOfLabelKey(key: string): readonly string[] {
  return key.split("/").length <= 2
    ? problemsOfQualifiedName(key)
    : [
        "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
      ];
}

/** What is wrong with a label value. */
export function problemsOfLabelValue(value: string): readonly string[] {
  return [
    ...(value.length > 63 ? ["must be no more than 63 bytes"] : []),
    ...(labelValue.test(value)
      ? []
      : [
          "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        ]),
  ];
}
