import type { AttributeValue, _Record as StreamRecord } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBRecord, AttributeValue as EventValue } from "aws-lambda";

/** A stream record as Lambda hands it to a function, its place in the shard beside it. */
export interface ShardRecord {
  readonly sequenceNumber: string;
  readonly record: DynamoDBRecord;
}

/**
 * Turns a record read from a stream into what Lambda passes on (Lambda Developer Guide, "Example event"): times in seconds, binary in base64.
 * DynamoDB rounds a record's creation time down to the second, DynamoDB Local to the minute; `notBefore`, an instant in epoch ms
 * before which the record cannot have been written, makes up for that.
 */
export function toShardRecord(read: StreamRecord, streamArn: string, notBefore: number | undefined): ShardRecord {
  const { dynamodb = {} } = read;
  const sequenceNumber = dynamodb.SequenceNumber;
  if (sequenceNumber === undefined) throw new TypeError(`a record of ${streamArn} has no sequence number`);
  return {
    sequenceNumber,
    record: {
      ...(read.eventID !== undefined && { eventID: read.eventID }),
      ...(read.eventName !== undefined && { eventName: read.eventName }),
      ...(read.eventVersion !== undefined && { eventVersion: read.eventVersion }),
      ...(read.awsRegion !== undefined && { awsRegion: read.awsRegion }),
      ...(read.userIdentity && {
        userIdentity: { type: read.userIdentity.Type, principalId: read.userIdentity.PrincipalId },
      }),
      eventSource: "aws:dynamodb",
      eventSourceARN: streamArn,
      dynamodb: {
        SequenceNumber: sequenceNumber,
        ...(dynamodb.ApproximateCreationDateTime && {
          ApproximateCreationDateTime: creationSeconds(dynamodb.ApproximateCreationDateTime, notBefore),
        }),
        ...(dynamodb.Keys && { Keys: toEventImage(dynamodb.Keys) }),
        ...(dynamodb.NewImage && { NewImage: toEventImage(dynamodb.NewImage) }),
        ...(dynamodb.OldImage && { OldImage: toEventImage(dynamodb.OldImage) }),
        ...(dynamodb.SizeBytes !== undefined && { SizeBytes: dynamodb.SizeBytes }),
        ...(dynamodb.StreamViewType !== undefined && { StreamViewType: dynamodb.StreamViewType }),
      },
    },
  };
}

const creationSeconds = (stated: Date, notBefore: number | undefined): number =>
  Math.floor(Math.max(stated.getTime(), notBefore ?? 0) / 1_000);

/** The SDK loses the value of an attribute named `__proto__`: what is left of it is left out, as a store's own read does. */
const toEventImage = (image: Record<string, AttributeValue | undefined>): Record<string, EventValue> =>
  Object.fromEntries(
    Object.entries(image).flatMap(([name, value]) => (value === undefined ? [] : [[name, toEventValue(value)]])),
  );

function toEventValue(value: AttributeValue): EventValue {
  if (value.S !== undefined) return { S: value.S };
  if (value.N !== undefined) return { N: value.N };
  if (value.BOOL !== undefined) return { BOOL: value.BOOL };
  if (value.NULL !== undefined) return { NULL: value.NULL };
  if (value.M !== undefined) return { M: toEventImage(value.M) };
  if (value.L !== undefined) return { L: value.L.map(toEventValue) };
  if (value.SS !== undefined) return { SS: value.SS };
  if (value.NS !== undefined) return { NS: value.NS };
  if (value.B !== undefined) return { B: base64(value.B) };
  if (value.BS !== undefined) return { BS: value.BS.map(base64) };
  throw new TypeError(`attribute value must be of a known type, got ${Object.keys(value)}`);
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
