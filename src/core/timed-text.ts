import type { TimedText } from './transcription.ts';

/** A segment is shown at once, as in a film: two lines of 42 characters, and not longer than one can bear to look at them. */
const LONGEST_TEXT = 84;
const LONGEST_SECONDS = 7;
/** Silence in which something else begins. */
const PAUSE_SECONDS = 1;

/** Words → segments: up to the end of a sentence, to a pause, or to as much as can be read at once. */
export function toSegments(words: readonly TimedText[]): readonly TimedText[] {
  const segments: TimedText[] = [];
  let current: TimedText | undefined;
  for (const word of words) {
    const isNext = current === undefined || isOver(current, word);
    if (isNext && current !== undefined) segments.push(current);
    current =
      isNext || current === undefined
        ? word
        : { text: `${current.text} ${word.text}`, start: current.start, end: Math.max(current.end, word.end) };
  }
  if (current !== undefined) segments.push(current);
  return segments;
}

function isOver(segment: TimedText, next: TimedText): boolean {
  if (/[.!?…。！？]["'”’)]*$/u.test(segment.text)) return true;
  if (next.start - segment.end > PAUSE_SECONDS) return true;
  return segment.text.length + 1 + next.text.length > LONGEST_TEXT || next.end - segment.start > LONGEST_SECONDS;
}

/** SubRip, the subtitles of most players. */
export function toSrt(segments: readonly TimedText[]): string {
  return segments
    .map(
      ({ text, start, end }, index) => `${index + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${line(text)}\n\n`,
    )
    .join('');
}

/** WebVTT (W3C), the subtitles of web pages. */
export function toVtt(segments: readonly TimedText[]): string {
  const cues = segments.map(
    // Text that looks like a tag, or like the arrow of the next cue, must not be one.
    ({ text, start, end }) => `${clock(start, '.')} --> ${clock(end, '.')}\n${escaped(line(text))}\n\n`,
  );
  return `WEBVTT\n\n${cues.join('')}`;
}

/** `01:02:03,456`. */
function clock(seconds: number, separator: string): string {
  const milliseconds = Math.max(0, Math.round(seconds * 1_000));
  const parts = [
    Math.floor(milliseconds / 3_600_000),
    Math.floor(milliseconds / 60_000) % 60,
    Math.floor(milliseconds / 1_000) % 60,
  ];
  const time = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return `${time}${separator}${String(milliseconds % 1_000).padStart(3, '0')}`;
}

/** An empty line would end the subtitle. */
function line(text: string): string {
  return text.trim().replace(/(?<!\s)\s*\n\s*/g, '\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
