
"use strict";
// The script of all pages: search, sorting, copying. All content is in the page without it.
document.documentElement.classList.add("scripted");

const one = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// say announces a message, for screen readers too.
function say(text) {
	const status = one(".status");
	if (status) status.textContent = text;
}

// number returns n with a comma between groups of three digits.
function number(n) { return n.toLocaleString("en-US"); }

// copy puts text on the clipboard. A page that was opened from a server without TLS has
// no navigator.clipboard.
async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		const area = document.createElement("textarea");
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
	say("Copied.");
}

for (const button of all("[data-copy]")) {
	button.addEventListener("click", () => copy(one(button.dataset.copy).textContent));
}

// Tables with the class "sortable": a click on a head sorts by the column, a second one turns
// the order around. A cell's data-sort is its number.
function sortBy(th, index) {
	const table = th.closest("table"), body = table.tBodies[0];
	const sorted = th.getAttribute("aria-sort");
	const descending = sorted ? sorted === "ascending" : th.classList.contains("num");
	const key = row => {
		const cell = row.cells[index];
		return cell.dataset.sort === undefined ? cell.textContent.trim() : Number(cell.dataset.sort);
	};
	const rows = [...body.rows].map((row, at) => ({row, at, key: key(row)}));
	rows.sort((a, b) => {
		const order = typeof a.key === "number" ? a.key - b.key : a.key.localeCompare(b.key);
		return (descending ? -order : order) || a.at - b.at;
	});
	for (const other of all("th", table)) other.removeAttribute("aria-sort");
	th.setAttribute("aria-sort", descending ? "descending" : "ascending");
	body.append(...rows.map(r => r.row));
}

for (const table of all("table.sortable")) {
	[...table.tHead.rows[0].cells].forEach((th, index) => {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = th.textContent;
		button.addEventListener("click", () => sortBy(th, index));
		th.replaceChildren(button);
	});
}

// The search shows the items (data-item) that contain the words, and opens what they are in.
const search = one("input[type=search].filter");
if (search) {
	const open = new Map();
	let items, texts, folds, found = [], current = -1, timer;

	function filter() {
		if (!items) {
			items = all("[data-item]");
			texts = items.map(i => i.textContent.toLowerCase());
			folds = all("details.fold");
		}
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		found = [];
		items.forEach((item, i) => {
			const match = words.every(w => texts[i].includes(w));
			item.hidden = !match;
			if (match) found.push(item);
		});
		current = -1;
		for (const fold of folds) {
			if (!words.length) {
				if (open.has(fold)) fold.open = open.get(fold);
				fold.hidden = false;
				continue;
			}
			if (!open.has(fold)) open.set(fold, fold.open);
			const inside = one("[data-item]", fold);
			const match = one("[data-item]:not([hidden])", fold) !== null;
			if (inside) { fold.hidden = !match; fold.open = match; }
		}
		if (!words.length) open.clear();
		say(words.length ? `${number(found.length)} of ${number(items.length)} ${search.dataset.unit}` : "");
	}

	function go(step) {
		if (!found.length) return;
		if (found[current]) found[current].classList.remove("hit");
		current = (current + step + found.length) % found.length;
		found[current].classList.add("hit");
		found[current].scrollIntoView({block: "center"});
		say(`${number(current + 1)} of ${number(found.length)} ${search.dataset.unit}`);
	}

	search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(filter, 80); });
	search.addEventListener("keydown", e => {
		if (e.key === "Enter") { clearTimeout(timer); if (current < 0) filter(); go(e.shiftKey ? -1 : 1); e.preventDefault(); }
		if (e.key === "Escape") { search.value = ""; filter(); }
	});
	search.addEventListener("search", () => { if (!search.value) filter(); });
}

document.addEventListener("keydown", e => {
	const field = one("input[type=search]");
	if (e.key === "/" && field && !e.ctrlKey && !e.metaKey && !e.altKey && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
		field.focus();
		e.preventDefault();
	}
});

// A link within the page unfolds what it leads to.
function unfold(hash) {
	for (let e = document.getElementById(decodeURIComponent(hash.slice(1))); e; e = e.parentElement) {
		if (e.tagName === "DETAILS") e.open = true;
	}
}
for (const link of all('a[href^="#"]')) link.addEventListener("click", () => unfold(link.hash));
try { unfold(location.hash); } catch { /* not the URL of a part of the page */ }

for (const button of all("[data-open]")) {
	button.addEventListener("click", () => {
		const open = button.dataset.open === "yes";
		for (const fold of all("details.fold")) if (!fold.hidden) fold.open = open;
	});
}

// Whatever is folded is printed, except for what is there on demand only.
// Browsers repeat the head of a table on each sheet, but not the buttons in the head.
let closed = [], heads = [];
addEventListener("beforeprint", () => {
	heads = all("th button").map(button => ({button, text: document.createTextNode(button.textContent)}));
	for (const head of heads) head.button.replaceWith(head.text);
	closed = all("details.fold:not([open]):not(.no-print)");
	for (const fold of closed) fold.open = true;
});
addEventListener("afterprint", () => {
	for (const head of heads) head.text.replaceWith(head.button);
	for (const fold of closed) fold.open = false;
});
