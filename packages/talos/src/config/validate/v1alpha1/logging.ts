import type { ConfigMap } from "../../document/value.ts";
import { isThere, mapsAt, textAt } from "../access.ts";
import type { Report } from "../report.ts";
import { quoted } from "../text/quote.ts";
import { parseUrl } from "../text/url.ts";

/** Where logs are sent. */
export function checkLogging(logging: ConfigMap | undefined, report: Report): void {
  for (const destination of mapsAt(logging, "destinations")) {
    const parsed = isThere(destination, "endpoint") ? parseUrl(textAt(destination, "endpoint")) : undefined;
    if (parsed === undefined || "refusal" in parsed) {
      report.error("empty logging endpoint");
    } else {
      const { host, scheme } = parsed.url;
      report.errorIf(host === "", "empty logging endpoint's host");
      report.errorIf(scheme !== "tcp" && scheme !== "udp", `unexpected logging endpoint scheme ${quoted(scheme)}`);
    }
    const format = textAt(destination, "format");
    report.errorIf(format !== "json_lines", `unknown logging format ${quoted(format)}`);
  }
}
