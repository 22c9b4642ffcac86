import { intOrString, object, oneOf } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";

const rollingUpdate = object(
  {
    maxUnavailable: intOrString({
      description:
        "How many machines may be down at once, as a count or a share such as 25%; shares round down, at least one. Control planes go one by one whatever stands here. Default: 1.",
      default: 1,
    }),
  },
  { description: "Settings of RollingUpdate." },
);

const rolloutStrategy = object(
  {
    type: oneOf(["RollingUpdate"], {
      description: "RollingUpdate is the only strategy. Default: RollingUpdate.",
      default: "RollingUpdate",
    }),
    rollingUpdate,
  },
  {
    description: "How a change that disturbs machines is spread over them. May change at any time.",
    default: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
  },
);

/** How a change that disturbs machines is spread over them. */
export interface RolloutStrategy extends Infer<typeof rolloutStrategy> {}
export const rolloutStrategyField: Field<RolloutStrategy, false> = rolloutStrategy;
