const key = v => typeof v === "string" ? "s" + v : "n" + Number(v);
for (const t of MODEL.tuples) {
  t.at = new Map(t.cells.map((cell, i) => [cell, t.effects[i]]));
}
for (const c of MODEL.columns) {
  if (c.kind === "category") c.code = new Map(c.categories.map((v, i) => [key(cellAs(c, v)), i]));
}
const isMissing = v => v === null || v === undefined || (typeof v === "number" && Number.isNaN(v));
function below(edges, x) {
  let low = 0, high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle] < x) low = middle + 1; else high = middle;
  }
  return low;
}
// Where a row stands on the axis of each column: at a code, or between that of a node and the next.
function placesOf(row) {
  return MODEL.columns.map((c, i) => {
    const cell = cellOf(row, c, i), absent = isMissing(cell);
    if (c.kind === "category") {
      const found = absent ? c.missing : c.code.get(key(cell));
      return {code: found === undefined ? c.unseen : found, along: 0};
    }
    if (c.cuts === undefined) return {code: null, along: 0};
    if (absent) return {code: c.missing, along: 0};
    if (c.nodes === undefined) return {code: below(c.cuts, cell), along: 0};
    let code = below(c.nodes, cell);
    if (code === c.nodes.length || c.nodes[code] > cell) code = Math.max(code - 1, 0);
    const inside = code + 1 < c.nodes.length && cell > c.nodes[code];
    return {code, along: inside ? (cell - c.nodes[code]) / (c.nodes[code + 1] - c.nodes[code]) : 0};
  });
}
const isSame = (a, b) => a.code === b.code && a.along === b.along;
const cellOf = (row, c, i) =>
  c.kind === "ignored" ? null : cellAs(c, Array.isArray(row) ? row[i] : row[c.name]);
function alone(c, cell, code) {
  if (c.effects !== undefined) return c.effects[code];
  if (c.curve === undefined) return undefined;
  const f = c.curve;
  if (isMissing(cell)) return f.missing;
  const p = below(f.edges, cell), z = (cell - f.anchors[p]) * f.scale, [a, b, q] = f.coefficients[p];
  return a.map((v, k) => v + z * (b[k] + z * q[k]));
}
function together(t, places) {
  let cells = [[0, 1]];
  t.columns.forEach((i, axis) => {
    const {code, along} = places[i], next = (c, k) => c * t.codes[axis] + k;
    cells = along === 0 ? cells.map(([c, s]) => [next(c, code), s])
      : cells.flatMap(([c, s]) => [[next(c, code), s * (1 - along)], [next(c, code + 1), s * along]]);
  });
  const listed = cells.filter(([c]) => t.at.has(c));
  if (!listed.length) return undefined;
  return MODEL.intercept.map((_, k) => listed.reduce((sum, [c, s]) => sum + s * t.at.get(c)[k], 0));
}
function contributions(row) {
  const parts = [], places = placesOf(row);
  MODEL.columns.forEach((c, i) => {
    const values = alone(c, cellOf(row, c, i), places[i].code);
    if (values !== undefined) parts.push({columns: [i], values});
  });
  for (const t of MODEL.tuples) {
    const values = together(t, places);
    if (values !== undefined) parts.push({columns: t.columns, values});
  }
  return parts;
}
function scoresOf(parts) {
  const total = MODEL.intercept.slice();
  for (const part of parts) part.values.forEach((v, k) => { total[k] += v; });
  return total.length > 1 ? total : [0, total[0]];
}
// Where cells are unknown, the score that gives about the mean of the probabilities over what they may hold.
function unknownOf(row) {
  const places = placesOf(row), unknown = [];
  (MODEL.unknown === undefined ? [] : MODEL.unknown.columns).forEach((i, k) => {
    const c = MODEL.columns[i];
    if (c.kind === "category" ? places[i].code === c.unseen : isMissing(cellOf(row, c, i))) unknown.push(k);
  });
  return unknown;
}
function attenuated(scores, row) {
  const rule = MODEL.unknown, unknown = unknownOf(row);
  if (!unknown.length) return scores;
  let variance = 0;
  for (const j of unknown) for (const k of unknown) variance += rule.covariance[j][k];
  const factor = 1 / Math.sqrt(1 + rule.per_variance * Math.max(variance, 0));
  const share = Math.min((1 - factor) / rule.most_lost, 1);
  const lack = rule.lack.length > 1 ? rule.lack : [0, rule.lack[0]];
  return scores.map((s, k) => factor * s + share * lack[k]);
}
function probabilities(parts, row) {
  const scores = attenuated(scoresOf(parts), row);
  const highest = Math.max(...scores), weights = scores.map(s => Math.exp(s - highest));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map(w => w / sum);
}
