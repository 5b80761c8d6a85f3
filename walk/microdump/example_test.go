package microdump_test

import (
	"fmt"

	"symkit/walk/microdump"
)

func ExampleDecode() {
	const log = `I/app( 3745): working
W/google-breakpad( 3745): -----BEGIN BREAKPAD MICRODUMP-----
W/google-breakpad( 3745): V App:1.0
W/google-breakpad( 3745): O A arm64 08 aarch64 vendor/model:14
W/google-breakpad( 3745): R 0000000B SIGSEGV 0000000000000010
W/google-breakpad( 3745): M 0000007F80229000 0000000000000000 0000000000014000 380C0B7CD8FA3F094BC3BA58A81CBAD00 libapp.so
W/google-breakpad( 3745): -----END BREAKPAD MICRODUMP-----
`
	dumps, err := microdump.Decode([]byte(log))
	if err != nil {
		fmt.Println(err)
		return
	}
	d := dumps[0]
	fmt.Printf("%s: %s at %#x, %d module\n", d.Product, d.Reason, d.Address, len(d.Modules))
	// Output: App:1.0: SIGSEGV at 0x10, 1 module
}
