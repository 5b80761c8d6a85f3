package rawdump_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"

	"symkit/walk/peers/rawdump"
)

func ExampleWrite() {
	data, err := os.ReadFile("testdata/arm64.dmp")
	if err != nil {
		log.Fatal(err)
	}
	var text bytes.Buffer
	err = rawdump.Write(&text, data, rawdump.Options{Brief: true})
	if err != nil {
		log.Fatal(err)
	}
	_, exception, _ := strings.Cut(text.String(), "MINIDUMP_EXCEPTION\n")
	exception, _, _ = strings.Cut(exception, "  exception_record.exception_record")
	fmt.Print(exception)
	// Output:
	//   thread_id                                  = 0x7
	//   exception_record.exception_code            = 0xb
	//   exception_record.exception_flags           = 0x1
}
