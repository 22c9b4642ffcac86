import { join } from "node:path";

/** Path of a genuine program of the real tier. @throws Error where the tier is not set up */
export function tool(name: string): string {
  const folder = process.env["TALOS_OPERATOR_TOOLS"] ?? "";
  if (folder === "") throw new Error("TALOS_OPERATOR_TOOLS must name the folder with the genuine programs: run npm run test:real -- FILE");
  return join(folder, name);
}
