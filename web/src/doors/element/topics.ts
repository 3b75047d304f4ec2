/** Enough of a text to see what it is about, in bytes. */
const LOOKED_AT = 128 << 10;
const MOST = 2;

const TEXT = /^text\/|^application\/(json|xml|xhtml\+xml|x-ndjson)\b|\+xml\b/;
const TEXT_NAME = /\.(txt|text|md|markdown|csv|tsv|json|html?|xml|log|ya?ml|rst|tex)$/i;
/** The agent takes these for a sum, or for a question about the time. */
const MISLEADING = /\d|\b(time|date|day|now|today|clock)\b/i;
const COMMON = new Set("about after again against another because before being between could during every first from further having itself most other others should since still their there these they this those through under until what where which while within without would".split(" "));

/**
 * Finds up to two things that a file really writes about, for questions about it: its headings, else its most frequent
 * long words. None where it is no text.
 */
export async function topicsOf(file: File): Promise<string[]> {
  if (!TEXT.test(file.type) && !TEXT_NAME.test(file.name)) return [];
  let text: string;
  try {
    text = await file.slice(0, LOOKED_AT).text();
  } catch {
    return [];
  }
  if (text.includes("\0")) return [];
  const topics = [...headings(text), ...words(text)].filter((topic) => !MISLEADING.test(topic));
  return [...new Set(topics.map((topic) => topic.toLowerCase()))].slice(0, MOST);
}

/** Of Markdown and HTML, the title left out: it says what the file's name says. */
function headings(text: string): string[] {
  const found = [...text.matchAll(/^#{2,4}\s+(.+?)\s*#*$|<h[2-4][^>]*>([^<]+)</gim)].map(([, markdown, html]) => markdown ?? html ?? "");
  return found.map((heading) => heading.replace(/[*_`]/g, "").trim()).filter((heading) => /^[\p{L} '’-]{4,40}$/u.test(heading));
}

function words(text: string): string[] {
  const counts = new Map<string, number>();
  for (const [word] of text.replace(/<[^>]*>/g, " ").toLowerCase().matchAll(/\p{L}{5,}/gu)) {
    if (!COMMON.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  // A long word says more than a short one that is as frequent.
  const weight = ([word, n]: [string, number]) => n * word.length;
  return [...counts].sort((a, b) => weight(b) - weight(a)).map(([word]) => word).slice(0, 2 * MOST);
}
