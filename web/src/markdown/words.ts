import type { Language } from '../i18n/index.ts';

/** The words on the controls of rendered markdown, in the languages of the page. */
export interface Words {
  readonly code: string;
  /** Before the name of its language. */
  readonly codeIn: string;
  readonly copy: string;
  readonly copied: string;
  readonly wrap: string;
  readonly preview: string;
  readonly closePreview: string;
  readonly source: string;
  readonly table: string;
  readonly showAll: string;
  readonly picture: string;
  /** Before the host of a picture that is not loaded. */
  readonly pictureOn: string;
  readonly diagram: string;
  readonly task: string;
  readonly note: string;
  readonly tip: string;
  readonly important: string;
  readonly warning: string;
  readonly caution: string;
}

const en: Words = {
  code: 'Code',
  codeIn: 'Code: ',
  copy: 'Copy',
  copied: 'Copied',
  wrap: 'Wrap lines',
  preview: 'Preview',
  closePreview: 'Close preview',
  source: 'Source',
  table: 'Table',
  showAll: 'Show all',
  picture: 'Picture',
  pictureOn: 'Picture on',
  diagram: 'Diagram',
  task: 'Task',
  note: 'Note',
  tip: 'Tip',
  important: 'Important',
  warning: 'Warning',
  caution: 'Caution',
};

const de: Words = {
  code: 'Code',
  codeIn: 'Code: ',
  copy: 'Kopieren',
  copied: 'Kopiert',
  wrap: 'Zeilen umbrechen',
  preview: 'Vorschau',
  closePreview: 'Vorschau schließen',
  source: 'Quelltext',
  table: 'Tabelle',
  showAll: 'Alles zeigen',
  picture: 'Bild',
  pictureOn: 'Bild auf',
  diagram: 'Diagramm',
  task: 'Aufgabe',
  note: 'Hinweis',
  tip: 'Tipp',
  important: 'Wichtig',
  warning: 'Warnung',
  caution: 'Vorsicht',
};

const es: Words = {
  code: 'Código',
  codeIn: 'Código: ',
  copy: 'Copiar',
  copied: 'Copiado',
  wrap: 'Ajustar líneas',
  preview: 'Vista previa',
  closePreview: 'Cerrar vista previa',
  source: 'Fuente',
  table: 'Tabla',
  showAll: 'Mostrar todo',
  picture: 'Imagen',
  pictureOn: 'Imagen en',
  diagram: 'Diagrama',
  task: 'Tarea',
  note: 'Nota',
  tip: 'Consejo',
  important: 'Importante',
  warning: 'Advertencia',
  caution: 'Precaución',
};

const fr: Words = {
  code: 'Code',
  codeIn: 'Code : ',
  copy: 'Copier',
  copied: 'Copié',
  wrap: 'Renvoyer à la ligne',
  preview: 'Aperçu',
  closePreview: 'Fermer l’aperçu',
  source: 'Source',
  table: 'Tableau',
  showAll: 'Tout afficher',
  picture: 'Image',
  pictureOn: 'Image sur',
  diagram: 'Diagramme',
  task: 'Tâche',
  note: 'Remarque',
  tip: 'Conseil',
  important: 'Important',
  warning: 'Avertissement',
  caution: 'Attention',
};

const zh: Words = {
  code: '代码',
  codeIn: '代码：',
  copy: '复制',
  copied: '已复制',
  wrap: '自动换行',
  preview: '预览',
  closePreview: '关闭预览',
  source: '源码',
  table: '表格',
  showAll: '显示全部',
  picture: '图片',
  pictureOn: '图片位于',
  diagram: '图表',
  task: '任务',
  note: '注意',
  tip: '提示',
  important: '重要',
  warning: '警告',
  caution: '当心',
};

const LANGUAGES: Readonly<Record<Language, Words>> = { en, de, es, fr, zh };

/** The words of a language tag such as `de-AT`; English for one that is not there. */
export function wordsOf(language: string): Words {
  const byName: Readonly<Record<string, Words>> = LANGUAGES;
  return byName[language.toLowerCase().split('-')[0] ?? ''] ?? en;
}
