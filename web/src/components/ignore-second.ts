/** The second click of two is meant for the button that the first one was for, and has another one under it by then. */
export function ignoreSecond(event: MouseEvent): boolean {
  const isSecond = event.detail > 1;
  if (isSecond) event.preventDefault();
  return isSecond;
}
