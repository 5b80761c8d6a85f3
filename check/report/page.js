
// The pages of symcheck: a list of functions, of which a part is shown, and the map of the code.
const block = document.getElementById("data");
const data = block ? JSON.parse(block.textContent) : null;

// element makes an element with text or children.
function element(name, properties, ...children) {
	const e = Object.assign(document.createElement(name), properties);
	e.append(...children);
	return e;
}

// listOf shows rows of a table: sorted, filtered, a page of them at a time.
function listOf({rows, keys, text, shown, render, unit}) {
	const body = one("#rows"), find = one("#find"), show = one("#show"), perPage = 50;
	const heads = all("th button[data-key]", body.closest("table"));
	let texts, chosen = rows, start = 0, sortKey = "addr", down = false, timer;

	function draw(count = perPage) {
		body.replaceChildren(...chosen.slice(start, start + count).map(render));
		one("#place").textContent = chosen.length ? `${number(start + 1)} to ${number(Math.min(start + count, chosen.length))} of ${number(chosen.length)}` : "none";
		one("#previous").disabled = start === 0;
		one("#next").disabled = start + perPage >= chosen.length;
	}

	function update() {
		const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
		if (words.length && !texts) {
			texts = new Map(rows.map(r => [r, text(r).toLowerCase()]));
		}
		chosen = rows.filter(r => shown(r, show.value) && words.every(w => texts.get(r).includes(w)));
		const key = keys[sortKey];
		if (key) {
			const sign = down ? -1 : 1, values = new Map(chosen.map(r => [r, key(r)]));
			chosen.sort((a, b) => {
				const x = values.get(a), y = values.get(b);
				return sign * (typeof x === "string" ? (x < y ? -1 : x > y ? 1 : 0) : x - y);
			});
		}
		start = 0;
		draw();
		say(words.length || show.value !== "all" ? `${number(chosen.length)} of ${number(rows.length)} ${unit}` : "");
	}

	for (const button of heads) {
		button.addEventListener("click", () => {
			const same = sortKey === button.dataset.key, th = button.closest("th");
			down = same ? !down : th.classList.contains("num") && button.dataset.key !== "addr";
			sortKey = button.dataset.key;
			for (const other of heads) other.closest("th").removeAttribute("aria-sort");
			th.setAttribute("aria-sort", down ? "descending" : "ascending");
			update();
		});
	}
	find.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(update, 120); });
	find.addEventListener("keydown", e => { if (e.key === "Escape") { find.value = ""; update(); } });
	show.addEventListener("change", update);
	one("#previous").addEventListener("click", () => { start = Math.max(0, start - perPage); draw(); });
	one("#next").addEventListener("click", () => { start += perPage; draw(); });
	if (show.value === "all") draw(); else update();

	// A printed list is the first rows.
	if (!body.closest(".no-print")) {
		addEventListener("beforeprint", () => { start = 0; draw(100); });
		addEventListener("afterprint", () => draw());
	}
}

// cell makes a cell with a number.
const cell = n => element("td", {className: "num", textContent: n ? number(n) : "·"});

function changes() {
	const rows = data.changes, hex = r => r.hi ? "0x" + r.lo.toString(16) : "";
	const size = c => (c.new.hi - c.new.lo) || (c.old.hi - c.old.lo);
	listOf({
		rows, unit: "functions", text: c => `${c.name} ${c.old_name || ""} ${hex(c.old)} ${hex(c.new)}`,
		shown: (c, kind) => kind === "all" || kind === "more" && c.kind !== "moved" || c.kind === kind,
		keys: {name: c => c.name, kind: c => c.kind, old: c => c.old.lo, new: c => c.new.lo, size, lines: c => c.lines || 0, inlines: c => c.inlines || 0, rules: c => c.rules || 0},
		render: c => {
			const name = element("td", {});
			if (c.first) {
				const list = element("div", {}, ...c.first.map(text => element("p", {className: "soft", textContent: text})));
				name.append(element("details", {}, element("summary", {}, element("code", {textContent: c.name})), list));
			} else {
				name.append(element("code", {textContent: c.name}));
			}
			if (c.old_name) name.append(element("p", {className: "soft", textContent: "was " + c.old_name}));
			const sizes = c.old.hi && c.new.hi && c.old.hi - c.old.lo !== c.new.hi - c.new.lo ? `${number(c.old.hi - c.old.lo)} → ${number(c.new.hi - c.new.lo)}` : number(size(c));
			return element("tr", {}, name, element("td", {className: "nowrap", textContent: c.kind}), element("td", {className: "num"}, element("code", {textContent: hex(c.old)})),
				element("td", {className: "num"}, element("code", {textContent: hex(c.new)})), element("td", {className: "num", textContent: sizes}), cell(c.lines), cell(c.inlines), cell(c.rules));
		},
	});
}

// decode returns the beginnings and ends of runs.
function decode(runs) {
	const n = runs.length / 2, lo = new Float64Array(n), hi = new Float64Array(n), sum = new Float64Array(n + 1);
	let at = 0;
	for (let i = 0; i < n; i++) {
		lo[i] = at += runs[2 * i];
		hi[i] = at += runs[2 * i + 1];
		sum[i + 1] = sum[i] + runs[2 * i + 1];
	}
	return {lo, hi, sum, n};
}

// after returns the index of the first element of a sorted list that is above x.
function after(list, x) {
	let a = 0, b = list.length;
	while (a < b) {
		const m = (a + b) >> 1;
		if (list[m] > x) b = m; else a = m + 1;
	}
	return a;
}

// below returns how many addresses below x the runs have.
function below(r, x) {
	const i = after(r.lo, x);
	return i === 0 ? 0 : r.sum[i - 1] + Math.min(x, r.hi[i - 1]) - r.lo[i - 1];
}

// gaps lists the parts of [lo, hi) that the runs do not have.
function gaps(r, lo, hi) {
	const out = [];
	for (let i = after(r.hi, lo); lo < hi; i++) {
		const next = i < r.n ? Math.min(r.lo[i], hi) : hi;
		if (next > lo) out.push([lo, next]);
		if (i >= r.n) break;
		lo = Math.max(lo, r.hi[i]);
	}
	return out;
}

function codeMap() {
	const base = BigInt(data.base), hex = x => "0x" + (base + BigInt(Math.round(x))).toString(16);
	const code = decode(data.code), classes = data.classes.map(c => ({name: c.class, grain: c.grain, ...decode(c.runs)}));
	const byName = Object.fromEntries(classes.map(c => [c.name, c]));
	const covered = (name, f) => byName[name] ? below(byName[name], f.hi) - below(byName[name], f.lo) : 0;

	// The functions, by address.
	const d = data.functions, none = new Set(d.none), starts = new Float64Array(d.addr.length);
	let at = 0;
	const funcs = d.addr.map((distance, i) => {
		at += distance;
		starts[i] = at;
		return {i, lo: at, hi: at + d.size[i], size: d.size[i], name: d.name[i], file: data.files[d.file[i]] || "", unit: data.units[d.unit[i]] || "", wrong: d.wrong[i], lost: d.lost[i], none: none.has(i)};
	});
	const functionAt = addr => {
		const f = funcs[after(starts, addr) - 1];
		return f && addr < f.hi ? f : null;
	};

	// A position counts the bytes of code below an address: the strips have no gaps.
	const total = code.sum[code.n], position = addr => below(code, addr);
	const address = pos => {
		const i = Math.max(0, Math.min(code.n, after(code.sum, pos)) - 1);
		return code.lo[i] + Math.min(pos - code.sum[i], code.hi[i] - code.lo[i]);
	};

	const svg = one("#map"), strips = one("#strips"), panel = one("#panel"), space = "http://www.w3.org/2000/svg";
	const columns = 1000, lane = 26, inner = 20, smallest = 16;
	let lo = 0, hi = total, chosen = null;

	function shape(name, attributes) {
		const e = document.createElementNS(space, name);
		for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
		return e;
	}

	function draw() {
		const each = (hi - lo) / columns, groups = [];
		const edges = Array.from({length: columns + 1}, (_, i) => address(lo + i * each));
		classes.forEach((c, k) => {
			const paths = ["", "", "", "", ""];
			let from = 0, last = -1, have = below(c, edges[0]), codeBelow = below(code, edges[0]);
			for (let i = 0; i <= columns; i++) {
				let level = -1;
				if (i < columns) {
					const next = below(c, edges[i + 1]), nextCode = below(code, edges[i + 1]);
					const share = nextCode > codeBelow ? (next - have) / (nextCode - codeBelow) : 0;
					level = share < 0.001 ? 0 : share > 0.97 ? 4 : Math.min(3, 1 + Math.floor(share * 3));
					have = next;
					codeBelow = nextCode;
				}
				if (level !== last) {
					if (last >= 0) paths[last] += `M${from} ${k * lane}h${i - from}v${inner}h${from - i}z`;
					from = i;
					last = level;
				}
			}
			const g = shape("g", {class: c.name});
			paths.forEach((p, level) => { if (p) g.append(shape("path", {class: "s" + level, d: p})); });
			groups.push(g);
		});

		// Where few functions are in sight, lines divide them.
		const first = Math.max(0, after(starts, address(lo)) - 1), end = after(starts, address(hi));
		const x = addr => (position(addr) - lo) / each;
		if (end - first < 150) {
			let path = "";
			for (let i = first; i < end; i++) path += `M${x(funcs[i].lo).toFixed(2)} 0v104`;
			groups.push(shape("path", {class: "border", d: path}));
		}
		if (chosen) {
			const a = Math.max(-5, x(chosen.lo)), b = Math.min(columns + 5, x(chosen.hi));
			if (a < columns && b > 0) groups.push(shape("rect", {class: "chosen", x: a, y: -2, width: Math.max(1, b - a), height: 106}));
		}
		strips.replaceChildren(...groups);
		one("#from").textContent = hex(address(lo));
		one("#to").textContent = hex(address(hi));
		one("#range").textContent = `${number(Math.round(hi - lo))} bytes, ${number(end - first)} functions`;
		svg.dataset.lo = hex(address(lo));
		svg.dataset.hi = hex(address(hi));
	}

	function view(a, b) {
		const width = Math.min(total, Math.max(smallest, b - a));
		lo = Math.max(0, Math.min(total - width, a + (b - a - width) / 2));
		hi = lo + width;
		draw();
	}
	const zoom = (factor, center = (lo + hi) / 2) => view(center - (center - lo) * factor, center + (hi - center) * factor);
	const move = share => view(lo + share * (hi - lo), hi + share * (hi - lo));

	function choose(f, scroll) {
		chosen = f;
		const a = position(f.lo), b = Math.max(position(f.hi), a + 1);
		view(a - (b - a) / 2, b + (b - a) / 2);
		const list = element("dl", {className: "pairs"});
		const add = (name, value) => list.append(element("dt", {textContent: name}), element("dd", {textContent: value}));
		add("address", `${hex(f.lo)} to ${hex(f.hi)}, ${number(f.size)} bytes`);
		if (f.none) add("record", "none: only the ELF file has this function");
		if (f.file) add("source file", f.file);
		if (f.unit) add("unit", f.unit);
		for (const c of classes.slice(1)) {
			const holes = gaps(c, f.lo, f.hi), bytes = holes.reduce((n, [a, b]) => n + b - a, 0);
			const where = c.name === "inlines" || !holes.length ? "" : "; not " + holes.slice(0, 8).map(([a, b]) => `${hex(a)}–${hex(b)}`).join(", ") + (holes.length > 8 ? `, and ${number(holes.length - 8)} more` : "");
			add(c.name === "cfi" ? "unwind rules" : c.name, `${number(f.size - bytes)} of ${number(f.size)} bytes${where}${c.grain ? ` (gaps of up to ${c.grain} bytes are not shown)` : ""}`);
		}
		if (f.wrong) add("wrong", `lines or inlined calls at ${number(f.wrong)} addresses`);
		if (f.lost) add("missing", `lines or inlined calls at ${number(f.lost)} addresses`);
		panel.replaceChildren(element("h3", {textContent: f.name}), list);
		panel.hidden = false;
		if (scroll) svg.scrollIntoView({block: "center"});
	}

	// The pointer and the keyboard.
	svg.tabIndex = 0;
	svg.setAttribute("role", "application");
	svg.setAttribute("aria-label", "Map of the code. Arrow keys move, plus and minus zoom, zero shows all, Enter chooses the function in the middle.");
	const pos = e => lo + (e.clientX - svg.getBoundingClientRect().left) / svg.clientWidth * (hi - lo);
	let grip = null;
	svg.addEventListener("pointerdown", e => { grip = {x: e.clientX, lo, hi, moved: false}; svg.setPointerCapture(e.pointerId); });
	svg.addEventListener("pointermove", e => {
		if (!grip) {
			const f = functionAt(address(pos(e)));
			one("#range").textContent = `${hex(address(pos(e)))} ${f ? f.name.slice(0, 90) : "no function"}`;
			return;
		}
		const step = (grip.x - e.clientX) / svg.clientWidth * (grip.hi - grip.lo);
		if (Math.abs(e.clientX - grip.x) > 4) grip.moved = true;
		if (grip.moved) view(grip.lo + step, grip.hi + step);
	});
	svg.addEventListener("pointerup", e => {
		if (grip && !grip.moved) {
			const f = functionAt(address(pos(e)));
			if (f && (hi - lo) / f.size < 400) choose(f); else zoom(1 / 8, pos(e));
		}
		grip = null;
	});
	svg.addEventListener("keydown", e => {
		const keys = {
			ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => view(0, total),
			Enter: () => { const f = functionAt(address((lo + hi) / 2)); if (f) choose(f); },
		};
		if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) { keys[e.key](); e.preventDefault(); }
	});
	one("#in").addEventListener("click", () => zoom(0.25));
	one("#out").addEventListener("click", () => zoom(4));
	one("#left").addEventListener("click", () => move(-0.5));
	one("#right").addEventListener("click", () => move(0.5));
	one("#whole").addEventListener("click", () => { chosen = null; panel.hidden = true; view(0, total); });
	for (const button of all("button.go")) {
		button.addEventListener("click", () => {
			const addr = Number(BigInt(button.dataset.addr) - base), f = functionAt(addr);
			if (f) choose(f, true); else { const p = position(addr); view(p - 200, p + 200); svg.scrollIntoView({block: "center"}); }
		});
	}

	const share = (name, f) => element("td", {className: "num", textContent: f.none ? "–" : percent(covered(name, f), f.size)});
	const percent = (n, of) => of === 0 ? "–" : n >= of ? "100 %" : n <= 0 ? "0 %" : `${Math.min(99.9, Math.max(0.1, 100 * n / of)).toFixed(1)} %`;
	listOf({
		rows: funcs, unit: "functions", text: f => `${f.name} ${f.file} ${hex(f.lo)}`,
		shown: (f, what) => what === "all" || what === "wrong" && f.wrong + f.lost > 0 || what === "none" && f.none || !f.none && (what === "lines" && covered("lines", f) < f.size || what === "rules" && covered("cfi", f) < f.size),
		keys: {name: f => f.name, addr: f => f.lo, size: f => f.size, lines: f => f.size - covered("lines", f), inlines: f => covered("inlines", f), rules: f => f.size - covered("cfi", f), wrong: f => f.wrong + f.lost},
		render: f => {
			const button = element("button", {type: "button", textContent: f.name});
			button.addEventListener("click", () => choose(f, true));
			return element("tr", {}, element("td", {}, button, ...(f.file ? [element("br"), element("span", {className: "soft", textContent: f.file})] : [])),
				element("td", {className: "num"}, element("code", {textContent: hex(f.lo)})), element("td", {className: "num", textContent: number(f.size)}),
				share("lines", f), share("inlines", f), share("cfi", f), cell(f.wrong + f.lost));
		},
	});
	view(0, total);
}

if (data && data.functions) codeMap();
if (data && data.changes && one("#rows")) changes();
