import { createHash } from "node:crypto";

/** 48 bits: what a double holds exactly, with room to multiply. */
const HASH_BYTES = 6;

/** A stable number in [0, 1) for a text: the first 48 bits of its SHA-256. */
export const hashFraction = (text: string): number =>
  createHash("sha256").update(text).digest().readUIntBE(0, HASH_BYTES) / 2 ** (8 * HASH_BYTES);
