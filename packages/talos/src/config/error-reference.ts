import { remedies, type ConfigErrorCode } from "./errors.ts";

/** What a person reads about each code. `npm run generate` writes `docs/reference/errors/talos-config.md` from it; nothing at run time loads it. */
export const errorReference: {
  readonly page: string;
  readonly title: string;
  /** Lines above the codes, Markdown. */
  readonly intro: readonly string[];
  readonly codes: Readonly<Record<ConfigErrorCode, { readonly cause: string; readonly effect: string; readonly remedy: string }>>;
} = {
  page: "talos-config",
  title: "Errors of configs, patches and bundles",
  intro: [
    "Reading and writing machine configs, patches, secrets bundles, talosconfigs and version numbers fails with a `ConfigError`: `code`, `detail` (where Talos",
    "has a text for the same refusal, that text), `document` (`apiVersion/kind/name`), `path`, `line` and `column` (from 1), `cause`. The message begins with the",
    "code and ends with the remedy. It never shows a config, a key or a token; of a value of the wrong type it shows ten characters at most. `detail` may quote",
    "what the user wrote, as Talos does: it is for who wrote it, and is left out when an error is logged or printed. `retry` is always `never`.",
  ],
  codes: {
    YAML_SYNTAX: {
      cause: "The text is not YAML: bad indentation, an open bracket, a tab, an anchor that is not there.",
      effect: "Nothing was read.",
      remedy: `${remedies.YAML_SYNTAX}.`,
    },
    YAML_LIMIT: {
      cause:
        "The text is larger than allowed (4 MiB for a config, 256 KiB for a patch, 1 MiB for all patches together), nested deeper than 64 levels, or holds too many documents.",
      effect: "Nothing was read; nothing was cut off.",
      remedy: `${remedies.YAML_LIMIT}. Large manifests belong into the cluster, not into the machine config.`,
    },
    YAML_ALIAS: {
      cause:
        "An alias (`*name`) names no anchor or one around itself, or the aliases of the text repeat more than 10,000 values: a few hundred bytes of nested aliases can stand for gigabytes.",
      effect: "Nothing was read.",
      remedy: `${remedies.YAML_ALIAS}.`,
    },
    YAML_TAG: {
      cause:
        "The text uses a tag such as `!!binary` or one of its own, or one of the tags that are read (`!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!seq`, `!!map`) where the value is no such thing. Talos passes over most tags; what it would make of the value is not guessed.",
      effect: "Nothing was read.",
      remedy: `${remedies.YAML_TAG}.`,
    },
    YAML_ENCODING: {
      cause:
        "The text holds control characters, half of a surrogate pair, a NUL byte, or one of U+0085, U+2028 and U+2029, which Talos takes for the end of a line.",
      effect: "Nothing was read; the node would have seen other characters.",
      remedy: `${remedies.YAML_ENCODING}; write those characters as escapes in double quotes.`,
    },
    DUPLICATE_KEY: {
      cause: "A mapping has the same key twice.",
      effect: "Nothing was read. Which of the two would win differs between programs.",
      remedy: `${remedies.DUPLICATE_KEY}.`,
    },
    DUPLICATE_DOCUMENT: {
      cause: "Two documents of one text have the same identity, or two documents configure the same link, volume or address.",
      effect: "Nothing was read or applied.",
      remedy: `${remedies.DUPLICATE_DOCUMENT}.`,
    },
    NOT_A_DOCUMENT: {
      cause: "A document is a list or a scalar.",
      effect: "Nothing was read.",
      remedy: `${remedies.NOT_A_DOCUMENT}.`,
    },
    MISSING_KIND: {
      cause: "A document without any of the fields of v1alpha1 lacks `kind` or `apiVersion`.",
      effect: "Nothing was read.",
      remedy: `${remedies.MISSING_KIND}.`,
    },
    UNKNOWN_KIND: {
      cause: "No document of that kind and version exists in the Talos version that the config is for.",
      effect: "Nothing was read.",
      remedy: `${remedies.UNKNOWN_KIND}.`,
    },
    UNKNOWN_FIELD: {
      cause: "The document has no such field. The detail shows the unknown part.",
      effect: "Nothing was read. Talos would refuse the config.",
      remedy: `${remedies.UNKNOWN_FIELD}.`,
    },
    WRONG_TYPE: {
      cause:
        "A field holds a list where a text is asked for, a text where a number is asked for, a number that is out of range, and so on.",
      effect: "Nothing was read.",
      remedy: `${remedies.WRONG_TYPE}.`,
    },
    INVALID_VALUE: {
      cause: "A text is not in the form of its field: an address, a duration, a size, a URL, base64.",
      effect: "Nothing was read.",
      remedy: `${remedies.INVALID_VALUE}.`,
    },
    MISSING_DOCUMENT: {
      cause: "The text holds no document at all.",
      effect: "Nothing was read.",
      remedy: `${remedies.MISSING_DOCUMENT}.`,
    },
    PATCH_DELETE: {
      cause:
        "A `$patch: delete` stands where none is possible, or names a field, list item or map key that is not there. Deleting a whole document that is not there is no error.",
      effect: "Nothing of the patch was applied.",
      remedy: `${remedies.PATCH_DELETE}.`,
    },
    PATCH_MERGE: {
      cause: "A free-form part of a document (configuration of a Kubernetes component) is patched with a value of another shape.",
      effect: "Nothing of the patch was applied.",
      remedy: `${remedies.PATCH_MERGE}.`,
    },
    JSON_PATCH: {
      cause: "An operation of RFC 6902 is unknown, its path leads nowhere, its test failed, or the list is not JSON.",
      effect: "None of the operations was applied.",
      remedy: `${remedies.JSON_PATCH}.`,
    },
    JSON_PATCH_MULTI_DOCUMENT: {
      cause:
        "A JSON patch was given for a config of several documents; from Talos 1.12 on every generated config has several. An empty patch counts as a JSON patch without operations.",
      effect: "Nothing was applied.",
      remedy: `${remedies.JSON_PATCH_MULTI_DOCUMENT}.`,
    },
    INVALID_INPUT: {
      cause:
        "An argument of the generator makes no sense: an endpoint that is not `https://host[:port]`, no cluster name, manifests for a network plugin that takes none.",
      effect: "Nothing was generated.",
      remedy: `${remedies.INVALID_INPUT}.`,
    },
    INVALID_BUNDLE: {
      cause:
        "A secrets bundle lacks something, or holds both or none of the encryption secrets; a config lacks what a bundle needs, as that of a worker does; or a file of a Kubernetes PKI is missing or is not what it should be. `detail` lists all of it.",
      effect: "Nothing was read. A cluster whose bundle is lost cannot be managed any more.",
      remedy: `${remedies.INVALID_BUNDLE}.`,
    },
    INVALID_VERSION: {
      cause: "A text is not a version of Talos or Kubernetes.",
      effect: "Nothing was compared or generated.",
      remedy: `${remedies.INVALID_VERSION}.`,
    },
  },
};
