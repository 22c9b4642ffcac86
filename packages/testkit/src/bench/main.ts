import { parseArgs } from "node:util";
import { benchApiserver } from "./apiserver/bench-apiserver.ts";
import { benchIdle } from "./idle.ts";
import { benchFirstCluster } from "./first-cluster.ts";
import { benchInformer } from "./informer/bench-informer.ts";
import { benchFailover } from "./failover.ts";
import { benchLarge } from "./large.ts";
import { benchLatency } from "./latency.ts";
import { benchMemory } from "./memory.ts";
import { makeFleet } from "./ready-fleet.ts";
import { benchSteady } from "./steady.ts";

const HELP = `npm run bench -- <name> [--count N] [--bundle] [--node-option=OPTION ...]

  first-cluster   apply to Ready of one cluster; --count repeats, default 20
  idle            the operator with one cluster that is Ready; --count seconds, default 60
  fleet           only makes the healthy clusters that steady, failover and latency go on from, and keeps them; --count clusters, default 200
  steady          healthy clusters that nobody touches; --count clusters of 5 machines, default 200
  failover        the leader of two replicas ends, sleeps or is cut off; --count repeats, default 5
  latency         edit of a cluster to the first Talos call; --count clusters, default 200
  large           passes over one cluster of 1,000 workers, and of 100 for comparison; --count workers, --json for programs
  memory          the operator within the memory limit of its container; --count healthy clusters of 10 machines, default 50
  apiserver       the embedded API: storage, validation, TLS, start; beside the genuine one; --count creates, default 5000
  informer        list, cache and follow 10,000 objects of 3 KB over TLS; --count events, default 300000

  --no-limit      memory without the limit, to see what would be taken
  --bundle        the operator from dist/ (npm run build first) instead of the sources
  --node-option   an option of the operator's node, for example --node-option=--cpu-prof
  --api-node-option   the same for the embedded API beside it

Figures for people and for comparing two commits on one quiet machine. Nothing passes or fails but "large", which ends with 1 when 1,000 workers cost more than
docs/reference/benchmarks.md allows. Linux only.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string" },
    bundle: { type: "boolean", default: false },
    "node-option": { type: "string", multiple: true, default: [] },
    "api-node-option": { type: "string", multiple: true, default: [] },
    json: { type: "boolean", default: false },
    "no-limit": { type: "boolean", default: false },
    help: { type: "boolean" },
  },
});
const count = values.count === undefined ? undefined : Number(values.count);
const [name] = positionals;
const options = { bundled: values.bundle, nodeOptions: values["node-option"], apiNodeOptions: values["api-node-option"] };

if (values.help === true || name === undefined) process.stdout.write(HELP);
else if (count !== undefined && !(Number.isInteger(count) && count > 0)) {
  process.stderr.write(`error: --count takes a whole number above 0, not "${values.count}"\n`);
  process.exitCode = 2;
} else if (name === "first-cluster") await benchFirstCluster(count ?? 20, options);
else if (name === "informer") await benchInformer(count ?? 300_000, options);
else if (name === "apiserver") await benchApiserver(count ?? 5000, options);
else if (name === "idle") await benchIdle(count ?? 60, options);
else if (name === "fleet") await makeFleet(count ?? 200, options);
else if (name === "steady") await benchSteady(count ?? 200, options);
else if (name === "memory") await benchMemory(count ?? 50, !values["no-limit"], options);
else if (name === "failover") await benchFailover(count ?? 5, options);
else if (name === "large") {
  if (!(await benchLarge(count ?? 1_000, values.json))) process.exitCode = 1;
} else if (name === "latency") await benchLatency(count ?? 200, options);
else {
  process.stderr.write(`error: there is no benchmark "${name}"\n\n${HELP}`);
  process.exitCode = 2;
}
