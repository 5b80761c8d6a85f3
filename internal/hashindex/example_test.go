package hashindex_test

import (
	"fmt"
	"hash/maphash"

	"symkit/internal/hashindex"
)

func ExampleIndex() {
	var index hashindex.Index
	var keys []string
	seed := maphash.MakeSeed()
	for _, key := range []string{"a", "b", "a"} {
		hash := maphash.String(seed, key)
		n, ok := index.Find(hash, func(n uint32) bool { return keys[n] == key })
		if !ok {
			n = uint32(len(keys))
			keys = append(keys, key)
			index.Add(hash, n)
		}
		fmt.Println(key, n)
	}
	// Output:
	// a 0
	// b 1
	// a 0
}
