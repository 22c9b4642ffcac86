// Holds the rule that all I/O, time and chance go through ports: what is named here may be used in adapters, the command line, benchmarks and tests only.
// A text check rather than a lint rule of the linter, because the rule is about places, not about single names.
import { globSync, readFileSync } from "node:fs";

const forbidden = [
  [/\bDate\.now\(/, "Date.now: take a Clock"],
  [/\bnew Date\(\)/, "new Date(): take a Clock"],
  [/\b(setTimeout|setInterval|setImmediate)\(/, "timers: take Timers"],
  [/\bMath\.random\(/, "Math.random: take a RandomSource"],
  [/\bperformance\.now\(/, "performance.now: take a Clock"],
  [/\bprocess\.(?!exitCode\b)\w/, "process: pass what is needed as an argument"],
  [
    /from "node:(net|tls|http|http2|https|fs|fs\/promises|child_process|sqlite|dgram|dns|os|worker_threads|timers|timers\/promises)"/,
    "I/O: put it behind a port",
  ],
  [/\b(randomBytes|randomUUID|randomInt|getRandomValues|generateKeyPair\w*)\b/, "randomness and keys: take a RandomSource or Keys"],
  [/from "@grpc\/grpc-js"/, "gRPC: take a TalosDialer"],
];
const exempt = /\/adapters\/|packages\/cli\/|\/main\.ts$|\/bench\/|\/scripts\/|\/testing\/real|\.test\.ts$|\.real-test\.ts$|\/gen\//;

let failures = 0;
for (const file of globSync("packages/*/src/**/*.ts").toSorted()) {
  if (exempt.test(file.replaceAll("\\", "/"))) continue;
  readFileSync(file, "utf8")
    .split("\n")
    .forEach((line, index) => {
      if (/^\s*(\/\/|\*|\/\*)/.test(line)) return;
      for (const [pattern, remedy] of forbidden) {
        if (!pattern.test(line)) continue;
        failures += 1;
        process.stdout.write(`${file}:${index + 1}: ${remedy}\n`);
      }
    });
}
if (failures > 0) process.exit(1);
