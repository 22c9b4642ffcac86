import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { it } from "node:test";
import { signalGroup } from "./children.mjs";

const url = JSON.stringify(new URL("children.mjs", import.meta.url).href);

/** A script that starts a shell with a program beside it, and says the number of their group. */
function script(rest) {
  const text = `import { endAtSignals, start } from ${url};
    const child = start("sh", ["-c", "sleep 600 & sleep 600"], { stdio: "ignore" });
    child.on("close", () => console.log("went on"));
    ${rest}
    console.log(child.pid);`;
  return spawn(process.execPath, ["--input-type=module", "-e", text], { stdio: ["ignore", "pipe", "inherit"] });
}

async function groupOf(child) {
  for await (const line of child.stdout) return Number(line);
  return assert.fail("it said nothing");
}

/** Processes that were killed are there until the system has cleared them away. */
async function assertGone(group) {
  while (signalGroup(group, 0)) await new Promise((resolve) => setTimeout(resolve, 10));
}

it("a signal ends a script with all that it started, and nothing of it goes on", async () => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ]) {
    const child = script("endAtSignals(60_000);");
    const ended = new Promise((resolve) => child.on("close", (...end) => resolve(end)));
    let printed = "";
    child.stdout.on("data", (chunk) => {
      if (printed === "") child.kill(signal);
      printed += chunk;
    });
    assert.deepEqual(await ended, [code, null]);
    assert.match(printed, /^\d+\n$/);
    await assertGone(Number(printed));
  }
});

it("a script that ends by itself leaves nothing running", async () => {
  await assertGone(await groupOf(script("setImmediate(() => process.exit(0));")));
});
