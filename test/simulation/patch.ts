/** A change of one production file: the text to look for, which must stand there once, and what replaces it. */
export interface Patch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}
