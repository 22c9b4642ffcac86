import { S3Error } from "./s3-error.ts";
import { encodePath, parameter, type S3Request } from "./s3-request.ts";

/** A number from 0 on; more than `most` is `most`. @throws S3Error `InvalidArgument` */
export function readCount(request: S3Request, name: string, otherwise: number, most: number): number {
  const given = parameter(request, name) ?? "";
  if (given === "") return otherwise;
  if (!/^\d{1,10}$/.test(given) || Number(given) > 0x7fffffff)
    throw new S3Error("InvalidArgument", `Provided ${name} not an integer or within integer range.`, {
      ArgumentName: name,
      ArgumentValue: given.slice(0, 60).replaceAll(/[^\x20-\x7e]/g, "?"),
    });
  return Math.min(Number(given), most);
}

/** How keys are written in an answer: as they are, or with `encoding-type=url` in letters that every parser of XML takes. @throws S3Error `InvalidArgument` */
export function readEncoding(request: S3Request): (key: string) => string {
  const type = parameter(request, "encoding-type");
  if (type === undefined) return (key) => key;
  if (type !== "url") throw new S3Error("InvalidArgument", "Invalid Encoding Method specified in Request");
  return encodePath;
}
