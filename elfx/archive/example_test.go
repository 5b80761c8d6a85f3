package archive_test

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"

	"symkit/elfx/archive"
)

// Example lists the ELF files in a zip file and opens each of them.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "app.apk")
	err = writeZip(path)
	if err != nil {
		fmt.Println(err)
		return
	}

	for m, err := range archive.Members(path) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		f, err := m.Open()
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(m.Name, f.Machine)
		f.Close()
	}
	// Output:
	// lib/x86_64/libhello.so EM_X86_64
}

// writeZip writes a zip file with a text file and an ELF file.
func writeZip(path string) error {
	elf, err := os.ReadFile("../../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()

	z := zip.NewWriter(out)
	for name, content := range map[string][]byte{"README": []byte("text\n"), "lib/x86_64/libhello.so": elf} {
		w, err := z.Create(name)
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		if err != nil {
			return err
		}
	}
	return z.Close()
}
