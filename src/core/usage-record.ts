/** One answer's use of tokens. */
export interface UsageRecord {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly user: string;
  readonly provider: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly savedTokens: number;
  /** Everything else that a client sent along, or that was noted: label, estimated, duration, … */
  readonly more: Readonly<Record<string, unknown>>;
}

/** Sums over days (UTC). */
export interface UsageTotals {
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly savedTokens: number;
}
