package symbolicate

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Limits of a request. maxJobs is Eliot's; the largest requests of browsers stay below a tenth of the others.
const (
	maxJobs    = 10
	maxBody    = 32 << 20 // bytes
	maxModules = 16 << 10 // in all memory maps together
	maxStacks  = 512 << 10
	maxFrames  = 512 << 10
)

// request is a request for symbols.
type request struct {
	jobs    []job
	modules []*module // each once
	stacks  int
	frames  int
	entries int // of memory maps
	known   map[moduleKey]*module
}

// job is a list of stacks with the modules in memory.
type job struct {
	memory []*module
	frames []frame // of all stacks
	ends   []int   // by stack: where its frames end
}

// frame is an address in a module.
type frame struct {
	module  int32 // index in the memory map, or -1
	unknown bool  // the offset is -1
	offset  uint64
}

// moduleKey is the name and the id of a MODULE record.
type moduleKey struct{ name, id string }

// parse reads a request of /symbolicate/v5, which has a list of jobs, or is one job, as those of /symbolicate/v4 are. Errors
// are those of Eliot.
func parse(text []byte, many bool) (*request, error) {
	if !json.Valid(text) {
		return nil, refuse("Payload is not valid JSON")
	}
	r := &request{known: map[moduleKey]*module{}}
	c := cursor{text: text}
	jobs := [][]byte{c.value()}
	c.pos = 0
	if many && c.enter('{') {
		for c.next() {
			name := c.name()
			list := c.value()
			if name != "jobs" {
				continue
			}
			var err error
			jobs, err = jobList(list)
			if err != nil {
				return nil, err
			}
		}
	}
	r.jobs = make([]job, len(jobs))
	for i, text := range jobs {
		err := r.job(&r.jobs[i], i, text)
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// jobList returns the texts of jobs.
func jobList(text []byte) (jobs [][]byte, err error) {
	c := cursor{text: text}
	if !c.enter('[') {
		return nil, refuse("jobs must be a list")
	}
	for c.next() {
		if len(jobs) == maxJobs {
			return nil, tooMany("jobs", maxJobs)
		}
		jobs = append(jobs, c.value())
	}
	return jobs, nil
}

// tooMany returns the error of a request with too many things, in Eliot's words about jobs.
func tooMany(what string, most int) error {
	return refuse(fmt.Sprintf("please limit number of %s in a single request to <= %d", what, most))
}

// job reads job i.
func (r *request) job(j *job, i int, text []byte) error {
	c := cursor{text: text}
	if !c.enter('{') {
		return refuse(fmt.Sprintf("job %d is invalid", i))
	}
	var stacks, memory []byte
	for c.next() {
		switch name := c.name(); name {
		case "stacks":
			stacks = c.value()
		case "memoryMap":
			memory = c.value()
		default:
			c.value()
		}
	}
	if stacks == nil {
		return refuse(fmt.Sprintf("job %d is invalid: no stacks specified", i))
	}
	if memory == nil {
		return refuse(fmt.Sprintf("job %d is invalid: no memoryMap specified", i))
	}
	problem, err := r.memoryMap(j, memory)
	if problem != "" {
		return refuse(fmt.Sprintf("job %d has invalid modules: %s", i, problem))
	}
	if err != nil {
		return err
	}
	problem, err = r.stackList(j, stacks)
	if problem != "" {
		return refuse(fmt.Sprintf("job %d has invalid stacks: %s", i, problem))
	}
	return err
}

// memoryMap reads a list of [name, id]. problem is what is wrong with it, err that there are too many modules.
func (r *request) memoryMap(j *job, text []byte) (problem string, err error) {
	c := cursor{text: text}
	if !c.enter('[') {
		return "modules must be a list", nil
	}
	for i := 0; c.next(); i++ {
		r.entries++
		if r.entries > maxModules {
			return "", tooMany("modules", maxModules)
		}
		name, id, n := pair(c.value())
		if n != 2 {
			return fmt.Sprintf("module index %d does not have a debug_filename and debug_id", i), nil
		}
		var key moduleKey
		var ok bool
		key.name, ok = stringOf(name)
		if !ok || !isName(key.name) {
			return fmt.Sprintf("module index %d has an invalid debug_filename", i), nil
		}
		key.id, ok = stringOf(id)
		if !ok || strings.Trim(key.id, hexDigits) != "" {
			return fmt.Sprintf("module index %d has an invalid debug_id", i), nil
		}
		m := r.known[key]
		if m == nil {
			m = &module{moduleKey: key, shown: key.name}
			r.known[key] = m
			r.modules = append(r.modules, m)
		}
		j.memory = append(j.memory, m)
	}
	return "", nil
}

// nameCharacters are those of the names of modules: Eliot's, and samply's []: for the kernel's modules.
const nameCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+{}@<> ~-[]:"

const hexDigits = "0123456789abcdefABCDEF"

func isName(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(nameCharacters, r) }) < 0
}

// pair returns the first two elements of an array, and the number of its elements, at most 3, which is -1 if it is no array.
func pair(text []byte) (first, second []byte, n int) {
	c := cursor{text: text}
	if !c.enter('[') {
		return nil, nil, -1
	}
	for c.next() && n < 3 {
		switch n {
		case 0:
			first = c.value()
		case 1:
			second = c.value()
		}
		n++
	}
	return first, second, n
}

// stackList reads a list of lists of [index in the memory map, offset].
func (r *request) stackList(j *job, text []byte) (problem string, err error) {
	c := cursor{text: text}
	if !c.enter('[') {
		return "stacks must be a list of lists", nil
	}
	for i := 0; c.next(); i++ {
		r.stacks++
		if r.stacks > maxStacks {
			return "", tooMany("stacks", maxStacks)
		}
		if !c.enter('[') {
			return fmt.Sprintf("stack %d is not a list", i), nil
		}
		for n := 0; c.next(); n++ {
			r.frames++
			if r.frames > maxFrames {
				return "", tooMany("frames", maxFrames)
			}
			f, problem := readFrame(j, c.value())
			if problem != "" {
				return fmt.Sprintf("stack %d frame %d %s", i, n, problem), nil
			}
			if f.module >= 0 {
				j.memory[f.module].wanted = true
			}
			j.frames = append(j.frames, f)
		}
		j.ends = append(j.ends, len(j.frames))
	}
	if len(j.ends) == 0 {
		return "no stacks specified", nil
	}
	return "", nil
}

// readFrame reads a frame; problem is what is wrong with it.
func readFrame(j *job, text []byte) (f frame, problem string) {
	first, second, n := pair(text)
	if n != 2 {
		return f, "is not a list of two items"
	}
	index, ok := intOf(first)
	if !ok {
		return f, "has an invalid module_index"
	}
	none := index.negative && index.n == 1
	if index.large || index.negative && !none || !index.negative && index.n >= uint64(len(j.memory)) {
		return f, "has a module_index that isn't in modules"
	}
	f.module = int32(index.n)
	if none {
		f.module = -1
	}
	offset, ok := intOf(second)
	f.unknown = offset.negative && offset.n == 1
	if !ok || offset.large || offset.negative && !f.unknown {
		return f, "has an invalid module_offset"
	}
	f.offset = offset.n
	return f, ""
}
