import type { Env } from 'markdown-it';

/** What a parse knows besides the text. */
export interface Surroundings extends Env {
  /** The text goes on: marks that are still open at its end are closed for now. */
  readonly streaming?: boolean;
  /** The text begins within a quote, with a further part of it. */
  readonly inQuote?: boolean;
}
