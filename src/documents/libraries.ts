import type { OpenPicture } from '../media/picture.ts';
import type { htmlToMarkdown } from './html.ts';
import type { mailToMarkdown } from './mail.ts';
import type { officeToMarkdown } from './office/office.ts';
import type { rtfToMarkdown } from './office/rtf.ts';
import type { pdfToMarkdown } from './pdf/pdf.ts';

/** What stands on a library, loaded when it is first needed. A loader throws when its library is missing. */
export interface Libraries {
  pdf(): Promise<typeof pdfToMarkdown>;
  office(): Promise<typeof officeToMarkdown>;
  rtf(): Promise<typeof rtfToMarkdown>;
  html(): Promise<typeof htmlToMarkdown>;
  mail(): Promise<typeof mailToMarkdown>;
  image(): Promise<OpenPicture>;
}

/** Those of package.json; tests put others in their place. */
export const INSTALLED: Libraries = {
  pdf: async () => (await import('./pdf/pdf.ts')).pdfToMarkdown,
  office: async () => (await import('./office/office.ts')).officeToMarkdown,
  rtf: async () => (await import('./office/rtf.ts')).rtfToMarkdown,
  html: async () => (await import('./html.ts')).htmlToMarkdown,
  mail: async () => (await import('./mail.ts')).mailToMarkdown,
  image: async () => {
    const { default: sharp } = await import('sharp');
    // A worker reads one image at a time and hardly ever the same one twice.
    sharp.cache(false);
    sharp.concurrency(1);
    return sharp;
  },
};
