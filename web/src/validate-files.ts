import type { UploadData, UploadOptions, UploadTicket, WaitOptions } from "turnwire";
import {
  checksumBefore, checksumDuring, checksumKnown, checksumNone, defaultBlockTimeout, defaultBlockTries, defaultConcurrency,
  defaultDataTimeout, defaultInterval, defaultMaxInterval, defaultReportTimeout, defaultWaitTimeout, type WaitLimits,
} from "./contract.ts";
import { headers } from "./headers.ts";
import { invalid, must } from "./invalid.ts";
import { callback, count, is, isObject, isString, limit, oneOf, or, read, type Table, text, time } from "./options.ts";
import { bytesOf, isBlob, isStream } from "./source.ts";
import { type ClientConfig, type Defaults, httpURL, requestTable, withDefaults, workspace } from "./validate.ts";

const waitTable = {
  ...requestTable,
  interval: or(time, defaultInterval),
  maxInterval: or(time, defaultMaxInterval),
  waitTimeout: or(limit, defaultWaitTimeout),
  onStatus: callback(),
} satisfies Table<WaitOptions>;

/** A wait's options as they are used. */
export type WaitConfig = ReturnType<typeof waitConfig>;

export const waitConfig = (options: WaitOptions | undefined, defaults: Defaults) => withDefaults(read(options, waitTable), defaults);

const uploadTable = {
  ...requestTable,
  workspaceId: text,
  name: text,
  contentType: is("a media type such as text/plain", (type) => isString(type) && /^[\x20-\x7e]+$/.test(type)),
  purpose: or(text, ""),
  size: count(0),
  blockSize: or(count(1), 0),
  concurrency: or(count(1), defaultConcurrency),
  blockTries: or(count(1), defaultBlockTries),
  blockTimeout: or(limit, defaultBlockTimeout),
  dataTimeout: or(limit, defaultDataTimeout),
  reportTimeout: or(limit, defaultReportTimeout),
  checksum: or(is('true, false, "before" or a SHA-256 of 64 hexadecimal digits', (sum) =>
    typeof sum === "boolean" || sum === "before" || (typeof sum === "string" && /^[0-9a-f]{64}$/i.test(sum))), true),
  checksumEncoding: oneOf("hex", "base64"),
  wait: is("true, false or an object", (wait) => typeof wait === "boolean" || isObject(wait)),
  onProgress: callback(),
  mapUploadTicket: callback(),
  resumeKey: text,
} satisfies Table<UploadOptions>;

/** An upload's options as they are used: what the loader keeps for itself, and the rest for the module. */
export type UploadConfig = ReturnType<typeof uploadConfig>;

export function uploadConfig(data: UploadData, options: UploadOptions | undefined, client: ClientConfig) {
  const { checksum, checksumEncoding, wait, ...given } = read(options, uploadTable);
  const own = withDefaults(given, client);
  const waits = wait ? waitConfig(wait === true ? undefined : wait, own) : undefined;
  const once = isStream(data);
  must(checksum !== "before" || !once, "checksum", 'another than "before": a stream can be read only once');
  const blob: Partial<File> = isBlob(data) ? data : {};
  return {
    ...own,
    workspaceId: workspace(own.workspaceId, client),
    name: own.name ?? (blob.name || "upload"),
    contentType: own.contentType ?? (blob.type || "application/octet-stream"),
    size: sizeOf(data, own.size),
    once,
    checksum: checksum === "before" ? checksumBefore : typeof checksum === "string" ? checksumKnown : checksum ? checksumDuring : checksumNone,
    knownSum: typeof checksum === "string" && checksum !== "before" ? checksum.toLowerCase() : "",
    base64: checksumEncoding === "base64",
    wait: waits && limitsOf({ ...waits, headers: [...own.headers, ...waits.headers] }),
    waitSignal: waits?.signal,
    onStatus: waits?.onStatus,
    maps: own.mapUploadTicket !== undefined,
    resumable: own.resumeKey !== undefined,
  };
}

/** What of a wait's options the module needs. */
export function limitsOf({ signal, onStatus, ...limits }: WaitConfig): WaitLimits {
  return limits;
}

/** The data's size in bytes; what the caller says of it must agree. */
function sizeOf(data: UploadData, said: number | undefined): number {
  if (isStream(data)) {
    must(!data.locked, "data", "a stream that nobody reads: this one is locked");
    must(said !== undefined, "size", "given in bytes: a stream does not tell its size");
    return said;
  }
  let size: number | undefined;
  try {
    size = isBlob(data) ? data.size : bytesOf(data)?.length;
  } catch {
    throw invalid("data", "whole: its buffer is detached (transferred elsewhere)");
  }
  must(size !== undefined, "data", "a Blob, File, ArrayBuffer, typed array, DataView or ReadableStream", data);
  must(said === undefined || said === size, "size", `left out or ${size}, as the data has`, said);
  return size;
}

/** What the page's mapUploadTicket gave, as JSON; throws saying what is wrong with it. Addresses are relative to base. */
export function ticketJSON(ticket: UploadTicket, base: string): string {
  must(isObject(ticket), "the ticket", "an object with fileId and url", ticket);
  const { fileId, url, parts, completeURL } = ticket;
  const isAddress = (value: unknown): boolean => isString(value) && httpURL(value, base) !== undefined;
  must(isString(fileId), "fileId", "a non-empty string", fileId);
  must(isAddress(url) || (!url && parts && completeURL), "url", "an http(s) address", url);
  must(completeURL === undefined || isAddress(completeURL), "completeURL", "an http(s) address", completeURL);
  must(parts === undefined || (Array.isArray(parts) && parts.every((part) => Number.isInteger(part?.partNumber) && isAddress(part.url))),
    "parts", "an array of { partNumber, url }", parts);
  // As JSON, Headers and a Map would have none.
  return JSON.stringify({ ...ticket, headers: Object.fromEntries(headers(ticket.headers, "headers")) });
}
