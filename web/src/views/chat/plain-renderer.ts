/** The text as it is, in the way of the markdown renderer. */
export function createRenderer(container: HTMLElement): { update(text: string, done: boolean): void; destroy(): void } {
  container.classList.add('is-plain');
  return {
    update: (text) => {
      container.textContent = text;
    },
    destroy: () => container.replaceChildren(),
  };
}
