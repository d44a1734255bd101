/** One number of the server's. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type Samples = readonly Sample[];

/** Reads Prometheus's text format, as far as our server writes it. */
export function parse(text: string): Samples {
  const list: Sample[] = [];
  for (const line of text.split("\n")) {
    const m = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (m === null) continue;
    const labels: Record<string, string> = {};
    for (const l of (m[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[l[1]!] = l[2]!;
    list.push({ name: m[1]!, labels, value: Number(m[3]) });
  }
  return list;
}

export function sum(samples: Samples, name: string): number {
  let n = 0;
  for (const s of samples) if (s.name === name) n += s.value;
  return n;
}
