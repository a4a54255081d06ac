function numberOf(written, text) {
  const pattern = new RegExp(written.pattern, written.ignore_case ? "i" : "");
  const found = text.length > written.longest ? null : text.match(pattern);
  if (!found || (found[1] === undefined) !== (found[7] === undefined)) return null;
  const digits = found[3].replace(/[^0-9]/g, "");
  if (/^0[0-9]/.test(digits)) return null;
  const size = Number((digits || "0") + "." + (found[4] || "0") + (found[5] || ""));
  return found[1] || found[6] || (found[2] && found[2] !== "+") ? -size : size;
}
function cellAs(column, cell) {
  if (cell instanceof Date) cell = cell.toISOString();
  if (typeof cell !== "string") return cell;
  if (column.written) return (column.written.standard ? daysOf : numberOf)(column.written, cell);
  return column.merged ? cell.trim().toLowerCase() : cell;
}
