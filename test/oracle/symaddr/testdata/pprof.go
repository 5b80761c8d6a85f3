// Command pprof is the pprof of github.com/google/pprof.
package main

import (
	"log"

	"github.com/google/pprof/driver"
)

func main() {
	err := driver.PProf(&driver.Options{})
	if err != nil {
		log.Fatal(err)
	}
}
