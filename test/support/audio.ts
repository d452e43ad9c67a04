/** What a file of audio says about itself, read from its own structure; throws where it is broken. */
export interface AudioFacts {
  readonly format: 'wav' | 'mp3' | 'vorbis' | 'opus';
  /** Samples a second. */
  readonly rate: number;
  readonly seconds: number;
  /** Frames or packets of compressed sound. */
  readonly frames: number;
}

/** Recognises the format by its first bytes. */
export function audioFacts(bytes: Buffer): AudioFacts {
  const magic = bytes.toString('latin1', 0, 4);
  if (magic === 'RIFF') return wavFacts(bytes);
  if (magic === 'OggS') return oggFacts(bytes);
  if (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0) return mp3Facts(bytes);
  throw new Error(`no audio that is known here: ${bytes.toString('hex', 0, 8)}`);
}

const HEADER_BYTES = 44;
const UNKNOWN = 0xffff_ffff;

function wavFacts(bytes: Buffer): AudioFacts {
  const size = bytes.readUInt32LE(40);
  const actual = bytes.length - HEADER_BYTES;
  if (bytes.toString('latin1', 8, 16) !== 'WAVEfmt ' || bytes.toString('latin1', 36, 40) !== 'data')
    throw new Error('the header of the WAV is odd');
  if (size !== UNKNOWN && size !== actual) throw new Error(`the header tells ${size} bytes, there are ${actual}`);
  if (size !== UNKNOWN && bytes.readUInt32LE(4) !== bytes.length - 8) throw new Error('the RIFF length is wrong');
  if (bytes.readUInt16LE(20) !== 1 || bytes.readUInt16LE(22) !== 1 || bytes.readUInt16LE(34) !== 16)
    throw new Error('the WAV is not mono with 16 bits');
  const rate = bytes.readUInt32LE(24);
  return { format: 'wav', rate, seconds: actual / 2 / rate, frames: actual / 2 };
}

/** By version (2.5, –, 2, 1): samples a second, for the two bits of the header. */
const MP3_RATES = [[11_025, 12_000, 8_000], [], [22_050, 24_000, 16_000], [44_100, 48_000, 32_000]];
/** Kilobits a second of layer III, for the four bits of the header: MPEG 1, and MPEG 2 and 2.5. */
const MP3_BITRATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const MP3_BITRATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

/** Every byte has to belong to a frame (ISO/IEC 11172-3 §2.4.1). */
function mp3Facts(bytes: Buffer): AudioFacts {
  let at = 0;
  let frames = 0;
  let seconds = 0;
  let rate = 0;
  while (at < bytes.length) {
    const header = bytes.readUInt32BE(at);
    if (header >>> 21 !== 0x7ff) throw new Error(`no frame at byte ${at}`);
    const version = (header >>> 19) & 3;
    const bitrate = (version === 3 ? MP3_BITRATES_1 : MP3_BITRATES_2)[(header >>> 12) & 15] ?? 0;
    rate = MP3_RATES[version]?.[(header >>> 10) & 3] ?? 0;
    if (((header >>> 17) & 3) !== 1 || bitrate === 0 || rate === 0) throw new Error(`an odd frame at byte ${at}`);
    const samples = version === 3 ? 1_152 : 576;
    at += Math.floor(((samples / 8) * bitrate * 1_000) / rate) + ((header >>> 9) & 1);
    frames += 1;
    seconds += samples / rate;
  }
  if (at !== bytes.length) throw new Error('the last frame is cut');
  return { format: 'mp3', rate, seconds, frames };
}

/** One logical stream of whole pages in order, each with the right checksum (RFC 3533). */
function oggFacts(bytes: Buffer): AudioFacts {
  const packets: Buffer[] = [];
  let open: Buffer[] = [];
  let granule = 0n;
  let at = 0;
  let flags = 0;
  for (let sequence = 0; at < bytes.length; sequence += 1) {
    if (bytes.toString('latin1', at, at + 4) !== 'OggS') throw new Error(`no page at byte ${at}`);
    flags = bytes.readUInt8(at + 5);
    if ((sequence === 0) !== ((flags & 2) !== 0)) throw new Error('the first page alone begins the stream');
    if (bytes.readUInt32LE(at + 18) !== sequence) throw new Error(`page ${sequence} is missing`);
    const position = bytes.readBigInt64LE(at + 6);
    if (position !== -1n) granule = position;
    const segments = bytes.subarray(at + 27, at + 27 + bytes.readUInt8(at + 26));
    let from = at + 27 + segments.length;
    for (const length of segments) {
      open.push(bytes.subarray(from, from + length));
      from += length;
      if (length === 255) continue;
      packets.push(Buffer.concat(open));
      open = [];
    }
    if (from > bytes.length) throw new Error('the last page is cut');
    checkPage(Buffer.from(bytes.subarray(at, from)));
    at = from;
  }
  if ((flags & 4) === 0) throw new Error('the last page does not end the stream');
  if (packets.some((packet) => packet.length === 0)) throw new Error('a packet is empty');
  const [head = Buffer.alloc(0)] = packets;
  if (head.toString('latin1', 0, 8) === 'OpusHead') {
    const seconds = (Number(granule) - head.readUInt16LE(10)) / 48_000;
    return { format: 'opus', rate: 48_000, seconds, frames: packets.length - 2 };
  }
  if (head.toString('latin1', 1, 7) !== 'vorbis') throw new Error('neither Opus nor Vorbis');
  const rate = head.readUInt32LE(12);
  return { format: 'vorbis', rate, seconds: Number(granule) / rate, frames: packets.length - 3 };
}

function checkPage(page: Buffer): void {
  const checksum = page.readUInt32LE(22);
  page.writeUInt32LE(0, 22);
  let crc = 0;
  for (const byte of page) {
    crc = (crc ^ (byte << 24)) >>> 0;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000_0000 ? (crc << 1) ^ 0x04c1_1db7 : crc << 1) >>> 0;
  }
  if (crc !== checksum) throw new Error('the checksum of a page is wrong');
}
