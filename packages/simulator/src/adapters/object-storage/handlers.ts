import type { S3Answer } from "../../object-storage/answer.ts";
import type { Operation } from "../../object-storage/operations.ts";
import { createBucket, getBucketLocation, getBucketVersioning, headBucket, listBuckets, listObjects, listObjectsV2 } from "./buckets.ts";
import type { S3Context } from "./context.ts";
import { deleteObject, deleteObjects, putObject, readObject } from "./objects.ts";
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  listMultipartUploads,
  listParts,
  uploadPart,
} from "./uploads.ts";

export const handlers: Readonly<Record<Operation, (context: S3Context) => Promise<S3Answer>>> = {
  AbortMultipartUpload: abortMultipartUpload,
  CompleteMultipartUpload: completeMultipartUpload,
  CreateBucket: createBucket,
  CreateMultipartUpload: createMultipartUpload,
  DeleteObject: deleteObject,
  DeleteObjects: deleteObjects,
  GetBucketLocation: getBucketLocation,
  GetBucketVersioning: getBucketVersioning,
  GetObject: readObject,
  HeadBucket: headBucket,
  HeadObject: readObject,
  ListBuckets: listBuckets,
  ListMultipartUploads: listMultipartUploads,
  ListObjects: listObjects,
  ListObjectsV2: listObjectsV2,
  ListParts: listParts,
  PutObject: putObject,
  UploadPart: uploadPart,
};
