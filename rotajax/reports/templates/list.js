// The list of all episodes.
if (data.episodes) {
  const { columns, rows } = data.episodes, part = 50;
  const place = new Map(rows.map((row, i) => [row, i]));
  let order = rows.slice(), limit = part;

  function list() {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = order.filter((row) => {
      const text = row.filter((v) => typeof v === "string").join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const body = $("list").tBodies[0];
    body.replaceChildren(...found.slice(0, limit).map((row) => {
      const line = document.createElement("tr"), replayed = data.replays?.episodes[place.get(row)];
      columns.forEach((column, i) => {
        const cell = document.createElement(i ? "td" : "th");
        const value = row[i];
        if (!i) cell.scope = "row";
        if (column.digits !== null) cell.className = "number";
        cell.textContent = value === null ? "–" : column.digits === null ? value : value.toFixed(column.digits);
        if (!i && replayed) cell.textContent = `▶ ${value}`;
        line.append(cell);
      });
      if (replayed) {
        line.className = "opens"; line.tabIndex = 0;
        line.addEventListener("click", () => open(place.get(row)));
        line.addEventListener("keydown", (event) => { if (event.key === "Enter") open(place.get(row)); });
      }
      return line;
    }));
    $("count").textContent = `${found.length} of ${rows.length} episodes`;
    $("more").hidden = found.length <= limit;
  }

  const heads = columns.map((column, i) => {
    const head = document.createElement("th"), button = document.createElement("button");
    head.scope = "col";
    if (column.digits !== null) head.className = "number";
    button.type = "button"; button.textContent = column.heading;
    button.addEventListener("click", () => {
      const sign = flip(heads, head);
      order = rows.slice().sort((a, b) => compare(a[i], b[i], sign));
      list();
    });
    head.append(button);
    return head;
  });
  $("list").tHead.rows[0].append(...heads);
  $("filter").addEventListener("input", () => { limit = part; list(); });
  $("more").addEventListener("click", () => { limit += 4 * part; list(); });
  list();
}
