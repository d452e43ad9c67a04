/** Numbers of a spreadsheet as their cells show them, near enough for reading: dates always as ISO 8601. */

/** Formats that have a number instead of a code (ECMA-376 part 1, §18.8.30); the others of the list are dates or plain. */
const BUILT_IN: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  14: 'yyyy-mm-dd',
  15: 'yyyy-mm-dd',
  16: 'yyyy-mm-dd',
  17: 'yyyy-mm',
  18: 'h:mm',
  19: 'h:mm:ss',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss',
  48: '0.0E+0',
};

const DAY_MS = 86_400_000;

/** A cell's value → what a spreadsheet shows in it. */
export interface NumberFormat {
  /** `epoch1904`: whether the workbook counts its days from 1904 on, as old Macs did. */
  format(value: number, epoch1904: boolean): string;
}

/** The format with this number, its code if the workbook defines one. Anything not understood shows the plain number. */
export function numberFormat(id: number, code: string | undefined): NumberFormat {
  const source = code ?? BUILT_IN[id] ?? 'General';
  const sections = splitSections(source);
  const positive = sections[0] || 'General';
  const kind = dateKind(positive);
  if (kind !== undefined) return { format: (value, epoch1904) => formatDate(value, kind, epoch1904) };
  if (sections.some((section) => CONDITION.test(section)))
    return { format: (value) => formatNumber(value, sectionFor(value, sections)) };
  const negative = sections[1] || undefined;
  return {
    format(value) {
      if (value >= 0 || negative === undefined) return formatNumber(value, positive);
      const shown = formatNumber(-value, negative);
      // What tells it from the same number above zero is not to be seen here.
      const isColoured = COLOUR.test(negative) && shown === formatNumber(-value, positive);
      return isColoured ? `-${shown}` : shown;
    },
  };
}

const COLOUR = /\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d{1,2})\]/i;

/** Numbers that a section is for: `[<=9999999]`. */
const CONDITION = /\[(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)\]/;

function sectionFor(value: number, sections: readonly string[]): string {
  const fits = (section: string): boolean => {
    const [, sign, limit = ''] = CONDITION.exec(section) ?? [];
    const difference = value - Number(limit);
    if (sign === undefined) return true;
    if (difference === 0) return sign.includes('=');
    return sign === '<>' || sign.startsWith(difference < 0 ? '<' : '>');
  };
  return sections.find(fits) ?? 'General';
}

/** The parts for positive, negative and other values, separated by semicolons outside quotes; any may be empty. */
function splitSections(code: string): string[] {
  const sections = [''];
  for (const piece of code.match(/"[^"]*"|\\.|\[[^[\]]*\]|./gs) ?? []) {
    if (piece === ';') sections.push('');
    else sections[sections.length - 1] += piece;
  }
  return sections;
}

interface DateKind {
  readonly date: boolean;
  readonly time: boolean;
  readonly seconds: boolean;
  /** A duration: hours go on beyond 24. */
  readonly elapsed: boolean;
  /** Only a year and a month. */
  readonly dayless: boolean;
}

function dateKind(section: string): DateKind | undefined {
  const elapsed = /\[(?:h+|m+|s+)\]/i.test(section);
  const letters = bare(section).replace(/AM\/PM|A\/P|General/gi, '');
  const time = elapsed || /[hs]/i.test(letters);
  const date = /[yd]/i.test(letters) || (/m/i.test(letters) && !time);
  if (!date && !time) return undefined;
  return {
    date,
    time,
    seconds: /s/i.test(letters) || /\[s+\]/i.test(section),
    elapsed,
    dayless: !/d/i.test(letters),
  };
}

/** The code without quoted text, escaped characters, padding, colours, conditions and currencies. */
function bare(section: string): string {
  return section.replace(/"[^"]*"|\\.|_.|\*.|\[[^[\]]*\]/g, '');
}

function formatDate(value: number, kind: DateKind, epoch1904: boolean): string {
  if (kind.elapsed) return formatDuration(value);
  // Excel keeps a 29 February 1900, which never was, for the sake of Lotus 1-2-3.
  const days = epoch1904 ? value + 1_462 : value < 60 ? value + 1 : value;
  const moment = new Date(Date.UTC(1899, 11, 30) + Math.round((days * DAY_MS) / 1_000) * 1_000);
  if (Number.isNaN(moment.getTime())) return String(value);
  const [date = '', clock = ''] = moment.toISOString().split('T');
  const time = clock.slice(0, kind.seconds ? 8 : 5);
  if (!kind.date) return time;
  return kind.time ? `${date} ${time}` : kind.dayless ? date.slice(0, 7) : date;
}

function formatDuration(days: number): string {
  const seconds = Math.round(Math.abs(days) * 86_400);
  const pad = (part: number): string => String(part).padStart(2, '0');
  const sign = days < 0 ? '-' : '';
  return `${sign}${Math.floor(seconds / 3_600)}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
}

function formatNumber(value: number, section: string): string {
  const shown = section.replace(/\[\$([^[\]-]*)(?:-[^[\]]*)?\]/g, '"$1"').replace(/\[[^[\]]*\]|_.|\*./g, '');
  const places = /(?:"[^"]*"|\\.|[^0#?.,])*([0#?,]*)(\.[0#?]*)?(,*)(E[+-]0+)?/.exec(shown);
  const digits = places?.[1] ?? '';
  // A slash makes a fraction, which nobody computes with.
  if ((digits === '' && places?.[2] === undefined) || bare(shown).includes('/')) return plainNumber(value, shown);
  if (INTERRUPTED.test(shown)) return filledIn(value, shown);
  const percent = bare(shown).includes('%');
  const decimals = Math.min(20, (places?.[2] ?? '').length > 0 ? (places?.[2] ?? '').length - 1 : 0);
  const optional = (places?.[2] ?? '').replace(/[^#?]/g, '').length;
  const scaled = percent ? value * 100 : value;
  // Trailing commas divide by a thousand each.
  const commas = /[0#?](,+)$/.exec(digits)?.[1] ?? '';
  const number =
    places?.[4] === undefined
      ? (scaled / 1_000 ** (commas + (places?.[3] ?? '')).length).toLocaleString('en-US', {
          minimumIntegerDigits: Math.min(20, Math.max(1, digits.replace(/[^0]/g, '').length)),
          minimumFractionDigits: Math.max(0, decimals - optional),
          maximumFractionDigits: decimals,
          useGrouping: /[0#?],[0#?]/.test(digits),
        })
      : scaled.toExponential(decimals).replace('e', 'E');
  return around(shown, number);
}

/** Digits with text between them, as of telephone numbers and the like: `000-00-0000`. */
const INTERRUPTED =
  /^(?:"[^"]*"|\\.|[^0#?.,"\\])*[0#?]+(?:"[^"]*"|\\.|[^0#?.,E%"\\])+[0#?](?:"[^"]*"|\\.|[^.,E%"\\])*$/;

/** A whole number from its last digit on; the first place takes all that are left. */
function filledIn(value: number, section: string): string {
  const pieces = section.match(/"[^"]*"|\\.|./gs) ?? [];
  const digits = [...BigInt(Math.round(Math.abs(value))).toString()];
  const first = pieces.findIndex((piece) => /^[0#?]$/.test(piece));
  let shown = '';
  for (const [index, piece] of [...pieces.entries()].reverse()) {
    if (!/^[0#?]$/.test(piece)) shown = literal(piece) + shown;
    else if (index === first) shown = digits.join('').padStart(1, piece === '0' ? '0' : '') + shown;
    else shown = (digits.pop() ?? (piece === '0' ? '0' : '')) + shown;
  }
  return `${value < 0 ? '-' : ''}${shown}`.trim();
}

/** The text before and after the digits of a format, which stay where they are around the number. */
function around(section: string, number: string): string {
  const parts = /^((?:"[^"]*(?:"|$)|\\.|[^"\\0#?.,])*)[0#?.,]+(?:E[+-]0+)?(.*)$/s.exec(section);
  return `${literal(parts?.[1] ?? '')}${number}${literal(parts?.[2] ?? '')}`.trim();
}

function literal(text: string): string {
  return text.replace(
    /"([^"]*)"|\\(.)|[#0?@]/g,
    (_, quoted: string | undefined, escaped: string | undefined) => quoted ?? escaped ?? '',
  );
}

/** `General`, text formats, fractions and whatever else has no digits of its own: fifteen significant digits, as Excel keeps. */
function plainNumber(value: number, section: string): string {
  const number = String(Number(value.toPrecision(15)));
  return /general/i.test(section) ? literal(section.replace(/general/i, `"${number}"`)) : number;
}
