package dump

import "runtime"

// Names lie here and there in more memory than caches hold. A byte of each is read before
// they are: the processor waits for all of them at the same time then, not for one after
// the other.

// fetched is how many are waited for.
const fetched = 32

const cacheLine = 64

// fetch reads of names, which are no more than fetched, what makes their texts.
func (t *nameTable) fetch(names []declared) {
	var keys [fetched][]byte
	read := 0
	for i, n := range names {
		e := t.at(n.id)
		keys[i] = e.key
		read ^= len(e.text)
	}
	for _, key := range keys {
		for at := 0; at < len(key); at += cacheLine {
			read ^= int(key[at])
		}
	}
	runtime.KeepAlive(read) // or the compiler would leave it out
}
