/** Enough for every model that sees; a photograph as it comes from a camera is several times as long. */
const LONGEST_SIDE = 2048;

/** The picture in a size that models take; as it is where that is small enough, or where the browser cannot read it. */
export async function smaller(file: File): Promise<File> {
  if (!/^image\/(png|jpeg|webp)$/.test(file.type)) return file;
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (bitmap === undefined) return file;
  const scale = LONGEST_SIDE / Math.max(bitmap.width, bitmap.height);
  if (scale >= 1) return file;
  const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const type = file.type === 'image/jpeg' ? 'image/jpeg' : 'image/webp';
  const blob = await canvas.convertToBlob({ type, quality: 0.9 });
  const name = file.name.replace(/\.\w+$/, '') + (type === 'image/jpeg' ? '.jpg' : '.webp');
  return new File([blob], name, { type });
}
