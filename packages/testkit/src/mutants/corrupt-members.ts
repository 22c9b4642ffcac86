import { engine, type Mutant } from "./mutant.ts";

const alarmed = `${engine}/assess/alarmed.ts`;
const corrupt = `${engine}/assess/corrupt.ts`;
const plan = `${engine}/procedures/care/plan-replacement.ts`;
const alarmedTests = [`${engine}/assess/alarmed.test.ts`] as const;
const planTests = [`${engine}/procedures/care/plan-replacement.test.ts`] as const;
const brokenTests = [`${engine}/invariants/broken.test.ts`] as const;

/** Faults in which members are replaced whose data may be the right ones. */
export const corruptMembers: readonly Mutant[] = [
  {
    name: "replaced-without-a-majority",
    about: "replaces a member although fewer than a majority are healthy and have the same data",
    tests: planTests,
    edits: [{ file: corrupt, find: "return view.healthy >= view.needed;", replace: "return view.healthy > 0;" }],
  },
  {
    name: "leader-replaced-first",
    about: "has the leader leave while another one with wrong data could go before it",
    tests: planTests,
    edits: [
      {
        file: corrupt,
        find: "Number(a.id === view.leader) - Number(b.id === view.leader)",
        replace: "Number(b.id === view.leader) - Number(a.id === view.leader)",
      },
    ],
  },
  {
    name: "wrong-members-counted-as-healthy",
    about: "counts members with wrong data in the majority that has to stay",
    tests: alarmedTests,
    edits: [{ file: alarmed, find: "members.includes(voter.id) ? { ...voter, isHealthy: false } : voter", replace: "voter" }],
  },
  {
    name: "replaced-although-nobody-is-named",
    about: "goes by an alarm that names nobody in particular",
    tests: alarmedTests,
    edits: [{ file: alarmed, find: "if (wrong.some((id) => NOBODY.test(id))) return {};", replace: "" }],
  },
  {
    name: "alarm-of-corrupt-data-taken-for-old",
    about: "takes the alarm of wrong data for one that outlived its member",
    tests: alarmedTests,
    edits: [
      {
        file: alarmed,
        find: "if (members.length === 0) return { beneath: view };",
        replace: "if (members.length < 9) return { beneath: view };",
      },
    ],
  },
  {
    name: "asked-to-leave-without-an-alarm",
    about: "goes on asking a member to leave although no alarm names it any more",
    tests: planTests,
    edits: [{ file: plan, find: "      isWrong &&\n      isMinority(etcdMembership.corrupt) &&", replace: "" }],
  },
  {
    name: "booted-while-etcd-stops",
    about: "boots the machine before its data are gone",
    tests: planTests,
    edits: [{ file: plan, find: "const mayBoot = stoppedWithoutData(etcd) &&", replace: "const mayBoot = etcd !== undefined &&" }],
  },
  {
    name: "wanted-member-leaves-unproved",
    about: "lets a pass have a member leave that no alarm names (S12)",
    tests: brokenTests,
    edits: [{ file: `${engine}/invariants/of-etcd.ts`, find: "if (trusted !== undefined) return trusted;", replace: "" }],
  },
  {
    name: "snapshot-of-wrong-data",
    about: "takes the snapshot before a replacement from the member whose data are wrong",
    tests: [`${engine}/assess/backup-sources.test.ts`],
    edits: [{ file: `${engine}/assess/backup-sources.ts`, find: ".filter(({ memberId }) => !wrong.has(memberId))", replace: "" }],
  },
];
