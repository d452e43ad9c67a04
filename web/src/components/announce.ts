let region: HTMLElement | undefined;

/** Says something to those who listen to the page instead of looking at it. */
export function announce(text: string): void {
  if (region === undefined) {
    region = document.createElement('p');
    region.className = 'hidden';
    region.setAttribute('role', 'status');
    document.body.append(region);
  }
  region.textContent = text;
}
