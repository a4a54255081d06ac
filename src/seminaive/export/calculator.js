const unpack = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const numbers = new Float64Array(unpack(MODEL.packed).buffer), outputs = MODEL.intercept.length;
const bits = unpack(MODEL.bits);
let used = 0, bit = 0;
for (const t of MODEL.tuples) {
  t.codes = t.columns.map(i => MODEL.columns[i].unseen + 1);
  const size = t.codes.reduce((a, b) => a * b, 1);
  t.cells = []; t.effects = [];
  for (let cell = 0; cell < size; cell++, bit++) {
    if (bits[bit >> 3] >> (bit & 7) & 1) {
      t.cells.push(cell);
      t.effects.push(Array.from(numbers.subarray(used, used + outputs)));
      used += outputs;
    }
  }
}
if (MODEL.unknown) {
  const lower = new Float64Array(unpack(MODEL.unknown.covariance).buffer);
  MODEL.unknown.covariance = MODEL.unknown.columns.map((_, j) => MODEL.unknown.columns.map((_, k) => {
    const [high, low] = j > k ? [j, k] : [k, j];
    return lower[high * (high + 1) / 2 + low];
  }));
}
/* CORE */
const $ = (tag, text, name) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (name) e.className = name;
  return e;
};
const WRITTEN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const fields = [];
const shown = v => v > 0 && v < 0.0005 ? "< 0.1 %" : v < 1 && v > 0.9995 ? "> 99.9 %" : (100 * v).toFixed(1) + " %";
// Where the reader's language writes 1,5, a comma is a decimal mark.
const comma = (1.5).toLocaleString(navigator.language).includes(",");
const short = v => comma ? String(v).replace(".", ",") : String(v);
const isDate = c => c.written !== undefined && c.written.standard !== undefined;
const shownNumber = (c, v) => isDate(c) ? dateText(v) : short(v);
const usual = c => shownNumber(c, c.low) + " to " + shownNumber(c, c.high);

function makeField(c, i) {
  const box = $("div", undefined, "field"), id = "f" + i, label = $("label", c.label);
  label.htmlFor = id;
  const hint = $("div", "", "hint");
  hint.id = id + "h";
  let input;
  if (c.kind === "category") {
    input = $("select");
    const add = (text, value) => { const o = $("option", text); o.value = value; input.append(o); };
    add("not known", "");
    c.categories.forEach((v, k) => add(String(v), String(k)));
    add("another value", "other");
  } else {
    input = $("input");
    input.type = "text"; input.inputMode = isDate(c) ? "text" : "decimal"; input.autocomplete = "off"; input.placeholder = "not known";
    label.textContent += c.unit ? " (" + c.unit + ")" : "";
  }
  input.id = id;
  input.setAttribute("aria-describedby", hint.id);
  input.addEventListener("input", update);
  box.append(label, input, hint);
  fields.push({c, i, input, hint, box});
  return box;
}

// Returns the number that is written, or null.
function numberIn(text) {
  const written = comma && !text.includes(".") ? text.replace(",", ".") : text, number = Number(written);
  return WRITTEN.test(written) && Number.isFinite(number) && Math.abs(number) <= 1e140 ? number : null;
}

// Returns the cell, or undefined where it cannot be read.
function read(f) {
  const text = f.input.value.trim(), c = f.c;
  f.hint.textContent = c.kind === "number" && c.high < 1e140 ? "99 % of training rows: " + usual(c) : "";
  f.hint.classList.remove("warn");
  f.input.setAttribute("aria-invalid", "false");
  if (text === "") return null;
  if (c.kind === "category") return text === "other" ? OTHER : c.categories[Number(text)];
  const number = isDate(c) ? daysOf(c.written, text) : numberIn(text);
  if (number === null) {
    f.hint.textContent = isDate(c) ? "This is not a date: write it like 2024-03-01."
      : "This is not a number: write it like " + short(1.5) + ".";
    f.hint.classList.add("warn");
    f.input.setAttribute("aria-invalid", "true");
    return undefined;
  }
  if (number < c.low || number > c.high) {
    f.hint.textContent = "Unusual: 99 % of training rows lie within " + usual(c) + ".";
    f.hint.classList.add("warn");
  }
  return number;
}
const OTHER = "\u0000another value";

function update() {
  const row = MODEL.columns.map(() => null);
  let readable = true;
  for (const f of fields) {
    const cell = read(f);
    if (cell === undefined) readable = false;
    row[f.i] = cell === undefined ? null : cell;
  }
  const out = document.getElementById("out"), why = document.getElementById("why");
  out.replaceChildren(); why.replaceChildren();
  document.getElementById("reason").hidden = true;
  if (!readable) {
    out.append($("p", "A number cannot be read; correct it to see the probabilities.", "warn"));
    return;
  }
  const parts = contributions(row), p = probabilities(parts, row), table = $("table");
  const caption = $("caption", "probability of each class");
  caption.className = "hint"; table.append(caption);
  MODEL.classes.forEach((label, k) => {
    const tr = $("tr"), th = $("th", String(label)), td = $("td", shown(p[k]), "number"), bar = $("div", "", "bar");
    const track = $("div", "", "track");
    th.scope = "row"; td.dataset.probability = String(p[k]); bar.style.width = 100 * p[k] + "%";
    track.append(bar); th.append(track); tr.append(th, td); table.append(tr);
  });
  out.append(table);
  const averaged = unknownOf(row).length;
  if (averaged) out.append($("p", unknownText(row, averaged), "hint"));
  explain(row, parts, why);
}

// Cells that were missing in training, too, are values like any other: over these nothing is averaged.
function unknownText(row, averaged) {
  const open = fields.filter(f => row[f.i] === null || row[f.i] === OTHER).length;
  const which = open > averaged ? averaged + " of them" : open === 1 ? "it" : "they";
  return (open === 1 ? "1 field is" : open + " fields are") + " not known; the probabilities are averages over what "
    + which + " could be.";
}

// Reasons compare a row with one of which nothing is known: a field that is not known says nothing.
function explain(row, parts, why) {
  const unknown = MODEL.columns.map(() => null), [target, other] = firstTwo(attenuated(scoresOf(parts), row));
  const shares = sharesFromRow(row, unknown, target, other), several = MODEL.classes.length > 2;
  document.getElementById("about").textContent = "For and against " + MODEL.classes[target]
    + (several ? " rather than " + MODEL.classes[other] : "");
  const list = fields.map(f => ({f, value: shares[f.i]})).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  for (const {f, value} of list.filter(e => Math.abs(e.value) >= 0.005).slice(0, 12)) {
    const side = value >= 0 ? "for" : "against", tr = $("tr"), th = $("th", f.c.label + " " + shownCell(f.c, row[f.i]));
    th.scope = "row";
    tr.dataset.logOdds = String(value);
    tr.append(th, $("td", oddsFactor(value) + " times the odds " + side, side));
    why.append(tr);
  }
  document.getElementById("reason").hidden = why.childElementCount === 0;
}
const shownCell = (c, cell) => cell === OTHER ? "another value" : cellText(c, cell) + (c.unit ? " " + c.unit : "");

function selfTest() {
  let worst = 0;
  for (const [row, expected] of MODEL.test) {
    const cells = row.map(v => v && v.other ? OTHER : v);
    probabilities(contributions(cells), cells).forEach((v, k) => { worst = Math.max(worst, Math.abs(v - expected[k])); });
  }
  const line = document.getElementById("test"), passed = worst < 1e-9;
  line.dataset.worst = String(worst);
  line.textContent = passed ? "Self-test passed: " + MODEL.test.length + " rows agree with the model."
    : "Self-test failed: this page must not be used.";
  line.className = passed ? "" : "failed";
  return passed;
}

const form = document.getElementById("fields");
MODEL.columns.forEach((c, i) => { if (c.kind !== "ignored") form.append(makeField(c, i)); });
document.getElementById("clear").addEventListener("click", () => {
  for (const f of fields) f.input.value = "";
  update();
});
// A link may fill the form: #{"column": "value", ...}, as text, categories by name.
try {
  const given = location.hash.length > 1 ? JSON.parse(decodeURIComponent(location.hash.slice(1))) : {};
  for (const f of fields) {
    if (!Object.hasOwn(given, f.c.name)) continue;
    const text = String(given[f.c.name]);
    if (f.c.kind === "number") { f.input.value = text; continue; }
    const k = f.c.categories.findIndex(v => String(v) === text);
    f.input.value = k < 0 ? "other" : String(k);
  }
} catch { /* a link that is no JSON fills nothing */ }
if (selfTest()) update(); else document.querySelector("main").hidden = true;
