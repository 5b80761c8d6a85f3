
// The page about many dumps: the order of the signatures. Text sorts from A to Z, numbers sort
// from the largest to the smallest; equal ones keep the order of the page.
const order = document.getElementById("order"), list = document.getElementById("groups");
if (order && list) {
	const groups = all(".group", list);
	const sort = () => {
		const key = group => {
			const n = group.dataset[order.value];
			return n === undefined ? one("." + order.value, group)?.textContent ?? "" : -Number(n);
		};
		const keyed = groups.map((group, at) => ({group, at, key: key(group)}));
		keyed.sort((a, b) => (typeof a.key === "number" ? a.key - b.key : a.key.localeCompare(b.key)) || a.at - b.at);
		list.append(...keyed.map(k => k.group));
	};
	order.addEventListener("change", sort);
	if (order.value !== "count") sort();
}
