/** The names that answers are written with. Any other stays as it is written: knowing all two thousand would double the script. */
const NAMES: Record<string, string> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™", deg: "°", plusmn: "±", times: "×",
  divide: "÷", middot: "·", bull: "•", hellip: "…", ndash: "–", mdash: "—", lsquo: "‘", rsquo: "’", sbquo: "‚", ldquo: "“", rdquo: "”",
  bdquo: "„", laquo: "«", raquo: "»", larr: "←", uarr: "↑", rarr: "→", darr: "↓", harr: "↔", rArr: "⇒", le: "≤", ge: "≥", ne: "≠",
  asymp: "≈", infin: "∞", minus: "−", radic: "√", sum: "∑", prod: "∏", pi: "π", micro: "µ", euro: "€", pound: "£", yen: "¥", cent: "¢",
  sect: "§", para: "¶", frac12: "½", frac14: "¼", frac34: "¾", sup2: "²", sup3: "³", ensp: "\u2002", emsp: "\u2003", thinsp: "\u2009",
  shy: "\u00ad", zwj: "\u200d", zwnj: "\u200c", lrm: "\u200e", rlm: "\u200f", check: "✓", alpha: "α", beta: "β", gamma: "γ", delta: "δ",
  lambda: "λ", mu: "μ", sigma: "σ", omega: "ω", Delta: "Δ", Omega: "Ω", Sigma: "Σ", auml: "ä", ouml: "ö", uuml: "ü", Auml: "Ä", Ouml: "Ö",
  Uuml: "Ü", szlig: "ß", eacute: "é", egrave: "è", agrave: "à", ccedil: "ç", ntilde: "ñ",
};

/** The character references of a text that is not code, as https://spec.commonmark.org/0.31.2/#entity-and-numeric-character-references. */
export function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal?: string, hexadecimal?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMES, name) ? NAMES[name]! : whole;
    const point = decimal ? Number(decimal) : parseInt(hexadecimal!, 16);
    return point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point < 0xe000) ? String.fromCodePoint(point) : "\ufffd";
  });
}
