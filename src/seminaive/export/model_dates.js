function daysOf(written, text) {
  const standard = text.match(new RegExp(written.pattern));
  const found = standard || (written.order ? text.match(new RegExp(written.year_last)) : null);
  if (!found) return null;
  const parts = found.slice(1, 7).map(part => Number(part || 0));
  const [year, month, day] = (standard ? [0, 1, 2] : written.order).map(k => parts[k]);
  const [hour, minute, second] = parts.slice(3);
  const midnight = new Date(Date.UTC(year, month - 1, day));
  const real = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === day;
  if (!real || hour > 23 || minute > 59 || second > 59) return null;
  const zone = found[8] && found[8] !== "Z" ? found[8] : "+00:00";
  const east = (60 * Number(zone.slice(1, 3)) + Number(zone.slice(-2))) * (zone[0] === "-" ? -1 : 1);
  const seconds = midnight.getTime() / 1000 + 3600 * hour + 60 * (minute - east) + second;
  return (seconds * 1e6 + Number((found[7] || "0").slice(0, 6).padEnd(6, "0"))) / 86400e6;
}
function dateText(days) {
  const text = new Date(Math.round(days * 86400e3)).toISOString();
  const [day, time] = [text.slice(0, 10), text.slice(11, 19)];
  return time === "00:00:00" ? day : day + " " + (time.endsWith(":00") ? time.slice(0, 5) : time);
}
