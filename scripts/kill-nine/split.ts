/** A cycle of the whole gateway takes some ten times as long as one of the stores. */
const HTTP_ONE_IN = 4;

/** How many of `cycles` each subject gets. Throws what is wrong with the words of the command line. */
export function split(cycles: number, subject: string): { readonly stores: number; readonly http: number } {
  if (!Number.isInteger(cycles) || cycles < 1) throw new Error('--cycles takes a whole number from 1 on');
  switch (subject) {
    case 'stores':
      return { stores: cycles, http: 0 };
    case 'http':
      return { stores: 0, http: cycles };
    case 'all': {
      const http = Math.ceil(cycles / HTTP_ONE_IN);
      return { stores: cycles - http, http };
    }
    default:
      throw new Error('--subject takes all, stores or http');
  }
}
