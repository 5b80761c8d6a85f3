package rank_test

import (
	"context"
	"fmt"
	"log"

	"symkit/check/rank"
)

func ExampleRank_Compare() {
	const module = "MODULE Linux x86_64 0123456789ABCDEF0 app\n"
	ctx := context.Background()
	stripped, err := rank.Of(ctx, []byte(module+"FUNC 1000 20 0 main\n"))
	if err != nil {
		log.Fatal(err)
	}
	whole, err := rank.Of(ctx, []byte(module+"FILE 0 app.c\nFUNC 1000 20 0 main\n1000 18 3 0\n1018 8 4 0\n"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stripped.Compare(whole))
	// Output: -1 the other file has lines for 32 bytes of 32 bytes of code, this one for 0 bytes
}
