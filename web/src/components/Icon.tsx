/** Strokes on a field of 16 by 16, drawn for this page. */
const PATHS = {
  plus: 'M8 3v10M3 8h10',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  sidebar: 'M2.5 3.5h11v9h-11zM6.5 3.5v9',
  close: 'm4 4 8 8M12 4l-8 8',
  check: 'm3 8.5 3.2 3.2L13 5',
  down: 'm4 6 4 4 4-4',
  left: 'm10 3.5-4.5 4.5 4.5 4.5',
  right: 'm6 3.5 4.5 4.5L6 12.5',
  send: 'M8 13V3M3.5 7.5 8 3l4.5 4.5',
  toEnd: 'M8 3v10m-4-4 4 4 4-4',
  stop: 'M4.5 4.5h7v7h-7z',
  pause: 'M5.5 4v8M10.5 4v8',
  play: 'M5 3.5v9L12.5 8z',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  edit: 'm3 13 .6-2.9L10.8 3l2.2 2.2-7.1 7.2zM9.3 4.5l2.2 2.2',
  again: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.8h-2.8',
  forward: 'M2.5 8h10M8.5 4l4 4-4 4',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9M6.8 7v4M9.2 7v4',
  pin: 'M5.5 2.5h5l-.7 4 2.2 2.5H4l2.2-2.5zM8 9v5',
  more: 'M3.5 7.6a.4.4 0 1 1 0 .8.4.4 0 0 1 0-.8M8 7.6a.4.4 0 1 1 0 .8.4.4 0 0 1 0-.8M12.5 7.6a.4.4 0 1 1 0 .8.4.4 0 0 1 0-.8',
  search: 'M7 2.8a4.2 4.2 0 1 1 0 8.4 4.2 4.2 0 0 1 0-8.4M10.2 10.2l3.3 3.3',
  clip: 'm13.5 7.5-5.7 5.7a3.3 3.3 0 0 1-4.7-4.7l6-6a2.2 2.2 0 0 1 3.1 3.1l-5.9 5.9a1.1 1.1 0 0 1-1.6-1.6l5.3-5.3',
  globe: 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M2.5 8h11M8 2.5c3.2 3.4 3.2 7.6 0 11-3.2-3.4-3.2-7.6 0-11',
  mic: 'M8 2.5a2 2 0 0 1 2 2v3.2a2 2 0 0 1-4 0V4.5a2 2 0 0 1 2-2M3.8 7.5a4.2 4.2 0 0 0 8.4 0M8 11.7v2',
  speaker: 'M2.5 6.2v3.6h2.2L8 12.5v-9L4.7 6.2zM10.3 6a2.8 2.8 0 0 1 0 4M12 4.3a5.2 5.2 0 0 1 0 7.4',
  star: 'm8 2.3 1.7 3.6 4 .5-2.9 2.7.7 3.9L8 11.1 4.5 13l.7-3.9-2.9-2.7 4-.5z',
  eye: 'M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8M8 6.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6',
  tool: 'M13.3 4.6 11 6.9 9.1 5l2.3-2.3a3.2 3.2 0 0 0-4.2 4.1L2.8 11.2l2 2 4.4-4.4a3.2 3.2 0 0 0 4.1-4.2',
  thought: 'M8 2.3c3 0 5.2 1.9 5.2 4.4S11 11.1 8 11.1l-2.7 2.2.2-2.8C3.8 9.8 2.8 8.4 2.8 6.7 2.8 4.2 5 2.3 8 2.3',
  image: 'M2.5 3h11v10h-11zM2.5 11l3.2-3.2 2.6 2.6 1.9-1.9 3.3 3.2M10.5 5.8h.01',
  file: 'M4 2h5l3 3v9H4zM9 2v3h3',
  settings: 'M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M10 3v3M6 10v3',
  chart: 'M2.5 13.5h11M4.5 11V7.5M8 11V3.5M11.5 11V6',
  columns: 'M2.5 3h11v10h-11zM8 3v10',
  library: 'M3 3h2.5v10H3zM6.5 3H9v10H6.5zM10.3 3.6l2.2-.6 2 9.5-2.2.5z',
  bookmark: 'M4.5 2.5h7v11L8 10.5l-3.5 3z',
  keyboard: 'M1.8 4.5h12.4v7H1.8zM4.5 7h.01M7 7h.01M9.5 7h.01M12 7h.01M5.5 9.5h5',
  share: 'M8 10V2.5M5 5.2 8 2.3l3 2.9M3 8.5v5h10v-5',
  download: 'M8 2.5V10M5 7.2 8 10.2l3-3M3 12.5h10',
  upload: 'M8 10.5V3M5 5.8 8 2.8l3 3M3 12.5h10',
  folder: 'M2 4h4l1.5 1.8H14V12.5H2z',
  tag: 'M2.5 2.5h5l6 6-5 5-6-6zM5.3 5.3h.01',
  key: 'M10.5 2.5a3 3 0 1 1-2.8 4L2.5 11.7v1.8h2.2v-1.6h1.6v-1.6L8.6 8.3M11 5h.01',
  memory: 'M4.5 4.5h7v7h-7zM6.5 2v2.5M9.5 2v2.5M6.5 11.5V14M9.5 11.5V14M2 6.5h2.5M2 9.5h2.5M11.5 6.5H14M11.5 9.5H14',
  warning: 'M8 2.5 14.2 13H1.8zM8 6.5v3M8 11.3h.01',
  external: 'M9.5 2.5h4v4M13.5 2.5 8 8M11.5 9v4.5h-9v-9H7',
  sun: 'M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6M8 1.5v1.7M8 12.8v1.7M1.5 8h1.7M12.8 8h1.7M3.4 3.4l1.2 1.2M11.4 11.4l1.2 1.2M12.6 3.4l-1.2 1.2M4.6 11.4l-1.2 1.2',
  moon: 'M13.2 9.6A5.7 5.7 0 0 1 6.4 2.8a5.7 5.7 0 1 0 6.8 6.8',
} as const;

/** Which pictures there are. */
export type IconName = keyof typeof PATHS;

/** A picture beside words; it says nothing to those who cannot see it. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
