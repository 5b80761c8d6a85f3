package batch

import (
	"cmp"
	"context"
	"io"
	"slices"

	"symkit/elfx"
	"symkit/elfx/archive/pkg"
)

// extract holds the files of the modules. Other files are given up if there is not enough memory. A
// member that cannot be extracted is an error of the files. The error of extract is the cause of
// ctx's end.
func (h *hold) extract(ctx context.Context, modules []*module, jobs int) error {
	wanted := bodiesOf(modules)

	// A module that is larger than the memory to hold it is held on disk.
	var sum, missing int64
	packs := map[*pack][]*body{}
	var order []*pack
	for _, b := range wanted {
		sum += b.size
		if b.held != nil {
			continue
		}
		missing += b.size
		if packs[b.pack] == nil {
			order = append(order, b.pack)
		}
		packs[b.pack] = append(packs[b.pack], b)
	}
	onDisk := sum > h.limit
	h.evict(wanted, missing)

	return each(ctx, len(order), jobs, func(i int) { h.unpack(ctx, order[i], packs[order[i]], onDisk) })
}

// unpack reads the bytes of files in one package.
func (h *hold) unpack(ctx context.Context, p *pack, files []*body, onDisk bool) {
	slices.SortFunc(files, func(a, b *body) int { return cmp.Compare(a.at, b.at) })
	at := 0
	left := files
	err := p.walk(ctx, pkg.Visitor{File: func(m pkg.Member, r io.Reader) error {
		at++
		if left[0].at != at-1 {
			return nil
		}
		b := left[0]
		left = left[1:]
		data, err := read(r, b.size, onDisk)
		if err != nil {
			return err
		}
		h.put(b, data)
		if len(left) == 0 {
			return pkg.ErrStop
		}
		return nil
	}})
	for _, b := range files {
		if b.held == nil {
			b.err = cmp.Or(err, elfx.ErrChanged)
		}
	}
}

// bodiesOf returns the files of packages that belong to modules, each once.
func bodiesOf(modules []*module) (list []*body) {
	seen := map[*body]bool{}
	for _, m := range modules {
		for _, in := range append([]*input{&m.Main, m.Debug}, m.Extra...) {
			if in != nil && in.Packed != nil && !seen[in.Packed.body] {
				seen[in.Packed.body] = true
				list = append(list, in.Packed.body)
			}
		}
	}
	return list
}

// maxWave bounds the modules of a wave: each takes some kB from the look at its files to its record.
const maxWave = 1024

// waves divides modules into groups whose files h can hold at a time. Every group but
// the last has as many modules as fit, at most maxWave; a module that is larger is a group of its own.
// Modules that are not in packages take no memory to hold.
func (h *hold) waves(modules []module) (waves [][]*module) {
	var wave []*module
	var sum int64
	seen := map[*body]bool{} // files of the wave
	for i := range modules {
		m := &modules[i]
		var size int64
		files := bodiesOf([]*module{m})
		for _, b := range files {
			if !seen[b] {
				size += b.size
			}
		}
		if len(wave) == maxWave || len(wave) > 0 && size > 0 && sum+size > h.limit {
			waves = append(waves, wave)
			wave, sum = nil, 0
			clear(seen)
			for _, b := range files {
				sum += b.size
			}
		} else {
			sum += size
		}
		for _, b := range files {
			seen[b] = true
		}
		wave = append(wave, m)
	}
	if len(wave) > 0 {
		waves = append(waves, wave)
	}
	return waves
}
