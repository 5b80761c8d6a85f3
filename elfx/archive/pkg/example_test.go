package pkg_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"

	"symkit/elfx"
	"symkit/elfx/archive/pkg"
)

// ExampleWalk reads the ELF files of a tar file that has another file, too.
func ExampleWalk() {
	program, err := os.ReadFile("../../../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf")
	if err != nil {
		fmt.Println(err)
		return
	}
	packed, err := packTar("./usr/share/doc/README", []byte("text\n"), "./usr/bin/hello", program)
	if err != nil {
		fmt.Println(err)
		return
	}

	err = pkg.Walk(bytes.NewReader(packed), int64(len(packed)), pkg.Visitor{File: func(m pkg.Member, r io.Reader) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		f, err := elfx.NewFile(m.Name, data)
		if err != nil {
			return err
		}
		defer f.Close()
		fmt.Println(m.Name, f.Machine)
		return nil
	}})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// usr/bin/hello EM_X86_64
}

// packTar returns a tar file with two files.
func packTar(name1 string, data1 []byte, name2 string, data2 []byte) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, file := range []struct {
		name string
		data []byte
	}{{name1, data1}, {name2, data2}} {
		err := w.WriteHeader(&tar.Header{Name: file.name, Mode: 0o755, Size: int64(len(file.data))})
		if err != nil {
			return nil, err
		}
		_, err = w.Write(file.data)
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
