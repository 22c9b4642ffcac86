import type { ServerHttp2Session } from "node:http2";
import type { HttpLimits } from "./http-limits.ts";

/** Idle connections are kept for so long, in either protocol. */
export const keepAliveTimeoutMs = 120_000;

/** Ends a connection that brings no first request in time, or none for long: also one whose headers never end, for they begin no stream. */
export function limitSession(session: ServerHttp2Session, limits: Pick<HttpLimits, "headersTimeoutMs">): void {
  let streams = 0;
  let timer = setTimeout(() => session.destroy(), limits.headersTimeoutMs);
  session.on("stream", (stream) => {
    clearTimeout(timer);
    streams += 1;
    stream.once("close", () => {
      streams -= 1;
      if (streams > 0 || session.closed) return;
      clearTimeout(timer);
      timer = setTimeout(() => session.close(), keepAliveTimeoutMs);
      timer.unref();
    });
  });
  session.once("close", () => clearTimeout(timer));
}
