import { parseArgs } from "node:util";
import { beginnings } from "./beginnings.ts";
import { explore } from "./explore.ts";

const HELP = `npm run model -- [--nodes N] [--operators N] [--effects N] [--most-states N] [BEGINNING...]

Visits every state of a small world (founding and members of etcd) that operators with the real rules can reach with so many effects.
Beginnings: ${beginnings.map(({ name, about }) => `${name} (${about})`).join(", ")}.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nodes: { type: "string", default: "3" },
    operators: { type: "string", default: "2" },
    effects: { type: "string", default: "12" },
    "most-states": { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else {
  const chosen = positionals.length === 0 ? beginnings : beginnings.filter(({ name }) => positionals.includes(name));
  if (chosen.length === 0) throw new Error(`there is no beginning ${positionals.join(", ")}`);
  for (const beginning of chosen) {
    const begunAt = Date.now();
    const most = values["most-states"] === undefined ? undefined : Number(values["most-states"]);
    const found = explore(beginning.state(Number(values.nodes), Number(values.operators)), Number(values.effects), most);
    const seconds = ((Date.now() - begunAt) / 1000).toFixed(1);
    process.stdout.write(
      `${beginning.name}: ${found.states} states, ${found.moves} moves, ${found.depth} effects deep, ${found.isComplete ? "complete" : "not complete"}, ${seconds} s\n`,
    );
    if (found.broken === undefined) continue;
    process.stdout.write(`${found.broken.rule}\n${found.broken.way.map((step) => `  ${step}\n`).join("")}`);
    process.exitCode = 1;
  }
}
