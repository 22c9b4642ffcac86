export type * from "./task/task.ts";
export type * from "./task/result.ts";
