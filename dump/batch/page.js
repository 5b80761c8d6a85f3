
// The table of a batch is in sheets, of which CSS shows one: the one that the address names, or the
// first. The search and a click on a head choose and order the rows of all sheets.
const sheets = all(".sheet");
if (sheets.length) {
	const bodies = sheets.map(s => one("tbody", s)), rows = all("tr[data-row]"), perSheet = Math.max(1, bodies[0].rows.length);
	const links = all(".pages a"), find = one("#find");
	let chosen = rows, texts, timer;

	// show shows sheet i.
	function show(i) {
		sheets.forEach((s, k) => { s.hidden = k !== i; });
		links.forEach((link, k) => k === i ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current"));
	}

	// fill puts the chosen rows into the sheets.
	function fill() {
		const used = Math.max(1, Math.ceil(chosen.length / perSheet));
		bodies.forEach((body, i) => {
			const from = i * perSheet, part = chosen.slice(from, from + perSheet), place = one(".place", sheets[i]);
			body.replaceChildren(...part);
			if (place) place.textContent = part.length ? `Modules ${number(from + 1)} to ${number(from + part.length)} of ${number(chosen.length)}` : "No module";
		});
		links.forEach((link, i) => { link.hidden = i >= used; });
		show(0);
	}

	function update() {
		const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
		if (!texts) texts = new Map(rows.map(r => [r, r.textContent.toLowerCase()]));
		chosen = rows.filter(r => words.every(w => texts.get(r).includes(w)));
		fill();
		say(words.length ? `${number(chosen.length)} of ${number(rows.length)} modules` : "");
	}

	// Every sheet has a head; all show the order.
	const heads = sheets.map(s => all("th", s));
	function sort(column) {
		const th = heads[0][column], sorted = th.getAttribute("aria-sort");
		const down = sorted ? sorted === "ascending" : th.classList.contains("num");
		const keyed = rows.map((row, at) => {
			const cell = row.cells[column];
			return {row, at, key: cell.dataset.sort === undefined ? cell.textContent.trim() : Number(cell.dataset.sort)};
		});
		keyed.sort((a, b) => {
			const order = typeof a.key === "number" ? a.key - b.key : a.key.localeCompare(b.key);
			return (down ? -order : order) || a.at - b.at;
		});
		rows.splice(0, rows.length, ...keyed.map(k => k.row));
		for (const row of heads) {
			for (const other of row) other.removeAttribute("aria-sort");
			row[column].setAttribute("aria-sort", down ? "descending" : "ascending");
		}
		update();
	}
	for (const row of heads) {
		row.forEach((th, column) => {
			const button = document.createElement("button");
			button.type = "button";
			button.textContent = th.textContent;
			button.addEventListener("click", () => sort(column));
			th.replaceChildren(button);
		});
	}

	find.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(update, 120); });
	find.addEventListener("keydown", e => { if (e.key === "Escape") { find.value = ""; update(); } });
	find.addEventListener("search", () => { if (!find.value) update(); });
	links.forEach((link, i) => link.addEventListener("click", () => show(i)));
	show(Math.max(0, sheets.findIndex(s => "#" + s.id === location.hash)));
}
