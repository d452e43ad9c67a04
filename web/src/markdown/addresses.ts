/** Which addresses may stand in rendered markdown. All of them are normalised first, as the browser would. */

/** What Sluice serves of media. Other paths of it are no pictures: reading `/backend-api/v2/create` costs money. */
const OWN_MEDIA = /^\/(?:media|images|thumbnail|search|files)\/[^/]/;
const PICTURE_DATA = /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=\s%-]*$/i;
const LONGEST = 4_000;

/** For an address in a link: what to link to, or undefined when it leads nowhere that a reader should go. */
export function linkAddress(address: string): string | undefined {
  if (address.length > LONGEST) return undefined;
  const trimmed = address.trim();
  if (!/^(?:https?:\/\/|mailto:|tel:)/i.test(trimmed)) return ownMedia(trimmed);
  if (!URL.canParse(trimmed)) return undefined;
  // A link to another place of this server is one of the page's own: it may do what no other page may.
  return new URL(trimmed).origin === location.origin ? ownMedia(new URL(trimmed).href) : trimmed;
}

/** For the source of a picture, a sound or a film: the same address within this origin, or undefined. */
export function mediaAddress(address: string): string | undefined {
  const trimmed = address.trim();
  if (PICTURE_DATA.test(trimmed)) return trimmed;
  if (trimmed.length > LONGEST) return undefined;
  if (/^blob:/i.test(trimmed)) return trimmed.startsWith(`blob:${location.origin}/`) ? trimmed : undefined;
  return ownMedia(trimmed);
}

function ownMedia(address: string): string | undefined {
  // A backslash is a slash to browsers, and two of them begin another host.
  if (/^[/\\]{2}/.test(address)) return undefined;
  if (!address.startsWith('/') && !address.startsWith(`${location.origin}/`)) return undefined;
  if (!URL.canParse(address, location.origin)) return undefined;
  const url = new URL(address, location.origin);
  const inside = url.origin === location.origin && OWN_MEDIA.test(url.pathname) && !/%2f|%5c/i.test(url.pathname);
  return inside ? url.pathname + url.search + url.hash : undefined;
}
