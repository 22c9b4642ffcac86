import { isoTime, xmlAnswer, type S3Answer } from "../../object-storage/answer.ts";
import { readCount, readEncoding } from "../../object-storage/list-parameters.ts";
import { listPage, placeToken, tokenPlace, type Page, type Place } from "../../object-storage/listing.ts";
import { S3Error } from "../../object-storage/s3-error.ts";
import { parameter, type S3Request } from "../../object-storage/s3-request.ts";
import type { Element } from "../../object-storage/xml.ts";
import type { KeptObject } from "./bucket-folder.ts";
import type { S3Context } from "./context.ts";

/** Whoever holds the keys. */
const OWNER: Element = [
  "Owner",
  [
    ["ID", "talos-operator"],
    ["DisplayName", "talos-operator"],
  ],
];
const MOST_LISTED = 1000;

export async function listBuckets({ buckets }: S3Context): Promise<S3Answer> {
  const found = [...buckets].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return xmlAnswer([
    "ListAllMyBucketsResult",
    [
      OWNER,
      [
        "Buckets",
        found.map(([name, { createdAt }]): Element => [
          "Bucket",
          [
            ["Name", name],
            ["CreationDate", isoTime(createdAt)],
          ],
        ]),
      ],
    ],
  ]);
}

/** Buckets are named when the endpoint is started. A client that makes its bucket before it writes learns that it is there. */
export async function createBucket({ request, buckets }: S3Context): Promise<S3Answer> {
  if (buckets.has(request.bucket)) throw new S3Error("BucketAlreadyOwnedByYou", undefined, { BucketName: request.bucket });
  throw new S3Error("NotImplemented", "Buckets are named when this endpoint is started; none is made here.");
}

export async function headBucket({ region }: S3Context): Promise<S3Answer> {
  return { status: 200, headers: regionHeader(region) };
}

function regionHeader(region: string): Readonly<Record<string, string>> {
  return { "x-amz-bucket-region": region };
}

/** An empty constraint is S3's word for us-east-1. */
export async function getBucketLocation({ region }: S3Context): Promise<S3Answer> {
  return xmlAnswer(["LocationConstraint", region === "us-east-1" ? "" : region]);
}

/** No status: versions were never kept. */
export async function getBucketVersioning(): Promise<S3Answer> {
  return xmlAnswer(["VersioningConfiguration", ""]);
}

export async function listObjectsV2({ request, folder, region }: S3Context): Promise<S3Answer> {
  if (parameter(request, "list-type") !== "2") throw new S3Error("InvalidArgument", "list-type is 2, or left out.");
  const [token, startAfter] = [parameter(request, "continuation-token"), parameter(request, "start-after")];
  const from = token === undefined ? after(startAfter) : tokenPlace(token);
  if (token !== undefined && from === undefined) throw new S3Error("InvalidArgument", "The continuation token provided is incorrect");
  const { asked, encoded, page } = list({ request, folder }, from);
  const next = page.next === undefined ? [] : [["NextContinuationToken", placeToken(page.next)] as const];
  return xmlAnswer(
    [
      "ListBucketResult",
      [
        ["Name", request.bucket],
        ["Prefix", encoded(asked.prefix)],
        ...(startAfter === undefined ? [] : [["StartAfter", encoded(startAfter)] as const]),
        ...(token === undefined ? [] : [["ContinuationToken", token] as const]),
        ...next,
        ["KeyCount", String(page.items.length + page.prefixes.length)],
        ...commonElements(request, asked, encoded, page, parameter(request, "fetch-owner") === "true"),
      ],
    ],
    regionHeader(region),
  );
}

export async function listObjects({ request, folder, region }: S3Context): Promise<S3Answer> {
  const marker = parameter(request, "marker") ?? "";
  const { asked, encoded, page } = list({ request, folder }, after(marker));
  const next =
    page.next === undefined ? [] : [["NextMarker", encoded(page.next.kind === "after" ? page.next.key : page.next.prefix)] as const];
  return xmlAnswer(
    [
      "ListBucketResult",
      [
        ["Name", request.bucket],
        ["Prefix", encoded(asked.prefix)],
        ["Marker", encoded(marker)],
        ...next,
        ...commonElements(request, asked, encoded, page, true),
      ],
    ],
    regionHeader(region),
  );
}

function list({ request, folder }: Pick<S3Context, "request" | "folder">, from: Place | undefined) {
  const encoded = readEncoding(request);
  const asked = {
    prefix: parameter(request, "prefix") ?? "",
    delimiter: parameter(request, "delimiter") ?? "",
    max: readCount(request, "max-keys", MOST_LISTED, MOST_LISTED),
    ...(from === undefined ? {} : { from }),
  };
  const page = listPage((prefix, at) => folder.objects(request.bucket, prefix, at), asked);
  return { asked, encoded, page };
}

function after(key: string | undefined): Place | undefined {
  return key === undefined || key === "" ? undefined : { kind: "after", key };
}

function commonElements(
  request: S3Request,
  asked: { readonly max: number; readonly delimiter: string },
  encoded: (key: string) => string,
  page: Page<KeptObject>,
  hasOwner: boolean,
): readonly Element[] {
  return [
    ["MaxKeys", String(asked.max)],
    ...(asked.delimiter === "" ? [] : [["Delimiter", encoded(asked.delimiter)] as const]),
    ...(request.query.has("encoding-type") ? [["EncodingType", "url"] as const] : []),
    ["IsTruncated", String(page.next !== undefined)],
    ...page.items.map(({ key, modifiedAt, etag, size, checksum }): Element => [
      "Contents",
      [
        ["Key", encoded(key)],
        ["LastModified", isoTime(modifiedAt)],
        ["ETag", etag],
        ...(checksum === undefined
          ? []
          : ([
              ["ChecksumAlgorithm", checksum.algorithm],
              ["ChecksumType", checksum.type],
            ] satisfies Element[])),
        ["Size", String(size)],
        ...(hasOwner ? [OWNER] : []),
        ["StorageClass", "STANDARD"],
      ],
    ]),
    ...page.prefixes.map((prefix): Element => ["CommonPrefixes", [["Prefix", encoded(prefix)]]]),
  ];
}
