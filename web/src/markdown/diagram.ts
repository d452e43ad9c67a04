import type { Tools } from './hosts.ts';

export interface DiagramView {
  readonly source: string;
  destroy(): void;
}

export function isDiagram(language: string): boolean {
  return language === 'mermaid';
}

export function showDiagram(source: string, _tools: Tools, _show: (figure: HTMLElement) => void): DiagramView {
  return { source, destroy: () => {} };
}
