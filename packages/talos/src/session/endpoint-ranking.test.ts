import assert from "node:assert/strict";
import { test } from "node:test";
import { EndpointRanking } from "./endpoint-ranking.ts";

const HOUR = 3_600_000;

function ranking(): EndpointRanking {
  const endpoints = new EndpointRanking();
  endpoints.set([{ address: "cp-1" }, { address: "cp-2" }]);
  return endpoints;
}

test("an endpoint that failed is passed over for a second, and twice as long after each further failure", () => {
  const endpoints = ranking();
  const best = (now: number): string | undefined => endpoints.best(now, new Set())?.address;
  endpoints.failed("cp-1", 0);
  assert.deepEqual([best(999), best(1_000)], ["cp-2", "cp-1"]);
  endpoints.failed("cp-1", 1_000);
  assert.deepEqual([best(2_999), best(3_000)], ["cp-2", "cp-1"]);
});

test("an endpoint that failed is asked again at once when the clock was set back", () => {
  const endpoints = ranking();
  endpoints.failed("cp-1", HOUR);
  assert.equal(endpoints.best(HOUR, new Set())?.address, "cp-2");
  assert.equal(endpoints.best(0, new Set())?.address, "cp-1");
});
