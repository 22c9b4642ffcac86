import type { ConfigMap } from "../../document/value.ts";
import type { Report } from "../report.ts";
import type { RuleSet } from "../rule-set.ts";

/** What is wrong with a document by itself. Its errors are reported together, one a line. */
export type DocumentRule = (members: ConfigMap, report: Report, rules: RuleSet) => void;
