/** An answer of everything that answers have, of so many tokens of four characters. */
export function longAnswer(tokens: number): string {
  const parts: string[] = [];
  let length = 0;
  for (let number = 1; length < tokens * 4; number++) {
    const part = `## Section ${number}

A paragraph with **bold words**, *emphasis*, \`code\`, a [link](https://example.com/${number}) and a formula $x_{${number}}^2$, that
goes on for a while, as paragraphs of answers do: ${'some more words about it, '.repeat(6)}and an end.

- first item of list ${number}
- second item, with \`code\`
  - nested item
- [x] a task

| Name | Value | Meaning |
|------|------:|---------|
${Array.from({ length: 8 }, (_, row) => `| row ${row} | ${row * number} | words in a cell |`).join('\n')}

\`\`\`typescript
${Array.from({ length: 15 }, (_, line) => `export const value${line} = compute(${line}, 'text', { deep: [1, 2, ${number}] }); // note`).join('\n')}
\`\`\`

$$
\\sum_{i=1}^{${number}} i^2 = \\frac{n(n+1)(2n+1)}{6}
$$

> A quote, number ${number}.
`;
    parts.push(part);
    length += part.length;
  }
  return parts.join('\n').slice(0, tokens * 4);
}
